/** Foreign plug-ins in processes of their own (D17). */
export { boundBeef } from './bounded-beef.ts'
export { hostPlugins, type PluginHost } from './host.ts'
export type { HostedModuleState, ModuleStatus } from './hosted-module.ts'
export { type InProcessModule, importPlugin } from './in-process.ts'
export type { HostOptions, Hydration, ModuleSpec } from './module-spec.ts'
export { importPackage } from './packages.ts'
export { openKnexDatabase } from './process/databases.ts'
export type { ReloadReport, ServiceChange } from './reload-report.ts'
