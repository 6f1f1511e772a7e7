import type { Behaviour } from '../stage.ts'
import { counting } from './counting.ts'
import { identity } from './identity.ts'
import { invariants } from './invariants.ts'
import { lifecycle } from './lifecycle.ts'
import { outcomes } from './outcomes.ts'
import { text } from './text.ts'
import { timeouts } from './timeouts.ts'

/** In the order of the matrix. */
export const behaviours: readonly Behaviour[] = [...counting, ...identity, ...text, ...outcomes, ...timeouts, ...lifecycle, ...invariants]
