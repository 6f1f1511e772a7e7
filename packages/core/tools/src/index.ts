export type * from './types.ts'
export { AGENT, agentOf, carrierOf, scopeTo } from './scope.ts'
export { layersOf, onion, waterfall, type Layers, type Listener, type Onion } from './onion.ts'
