/** Space in place of rows outside of the window. An image has a height without a style. */
export function Gap({ px }: { readonly px: number }) {
  if (px === 0) return null
  return (
    <tr class="gap">
      <td>
        <svg width="1" height={px} />
      </td>
    </tr>
  )
}
