export { type DashboardFile, dashboardFiles } from './dashboardFiles.ts'
