import type { FleetResult } from './run-fleet.mjs'

/** What must be 0 whatever was killed. */
export const MUST_BE_ZERO: readonly (keyof FleetResult)[]
