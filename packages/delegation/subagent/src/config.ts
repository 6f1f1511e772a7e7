import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'
import { faultOfFilter, type ToolFilter } from './tool-filter.ts'

/** How the service and its tool are set. */
export interface Config {
  /** How deep children may nest, an integer >= 1: a child of an agent that is no child has depth 1. Holds for every child. Default 3. */
  readonly maxDepth: number
  /** How many children the tool may make for one root agent, living and gone, an integer >= 1. Default 100. */
  readonly maxTotal: number
  /** Which tools children have. Default: all that their parent has of those that are registered for all agents. */
  readonly toolFilter?: ToolFilter
  /** Of children that are asked for without one. Default: the parent's. */
  readonly system?: string
  /** As `system`. */
  readonly provider?: string
  /** As `system`. */
  readonly model?: string
  /** What the tool is called. Default `subagent`. */
  readonly toolName: string
}

const schema = z.object({
  maxDepth: z.natural().min(1).default(3).description('How deep children may nest.'),
  maxTotal: z.natural().min(1).default(100).description('How many children the tool may make for one root agent.'),
  toolFilter: z.any().description('Which tools children have: { allow: [pattern] } or { deny: [pattern] }.'),
  system: z.string().description('The system prompt of children.'),
  provider: z.string().description('The provider of children.'),
  model: z.string().description('The model of children.'),
  toolName: z.string().default('subagent').description('What the tool is called.'),
}) as unknown as z<Partial<Config>, Config>

const KEYS = ['maxDepth', 'maxTotal', 'toolFilter', 'system', 'provider', 'model', 'toolName']
const NAMES = ['provider', 'model', 'toolName']

export const Config: z<Partial<Config>, Config> = strictConfig('subagent', schema, KEYS, {
  check: ({ toolFilter, ...others }) => {
    const blank = NAMES.filter((key) => typeof others[key] === 'string' && others[key].trim() === '').map(
      (key) => `\`${key}\` must not be blank`,
    )
    const fault = toolFilter === null ? undefined : faultOfFilter(toolFilter)
    return fault === undefined ? blank : [...blank, fault]
  },
})
