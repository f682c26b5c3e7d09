/** The theme of VitePress with the fonts of the reader's system. */
import theme from 'vitepress/theme-without-fonts'
// After those of the theme.
import './style.css'

export default theme
