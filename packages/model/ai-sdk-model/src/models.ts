import { pathToFileURL } from 'node:url'
import { HarnessError, show } from '@loopguard/kit'
import { moduleResolve } from 'import-meta-resolve'
import type { Config } from './config.ts'
import type { Fetch } from './guarded-fetch.ts'
import { type FactorySettings, type Kind, KINDS, type SdkModel, type SdkProvider } from './kinds.ts'

const CONDITIONS = new Set(['node', 'import', 'module-sync', 'node-addons'])
/** The generations of the specification whose streams are understood; they tell the same in the same words. */
const SPECIFICATIONS = ['v3', 'v4']

type Factory = (settings: FactorySettings) => SdkProvider

/** Makes the model of one request. */
type MakeModel = (modelId: string, key: string | undefined, fetch: Fetch) => SdkModel

/** What a configuration comes to: where it leads, and how a model of it is made. */
export interface Source {
  readonly kind: Pick<Kind, 'baseURL' | 'apiKeyEnv' | 'events' | 'providerOptions'>
  /** Loads the provider package, once. @throws HarnessError as {@link sourceOf} does. */
  readonly load: () => Promise<MakeModel>
}

/**
 * Finds the provider package of a row. A known one is loaded with its first request, as that takes a quarter of a second; one that the row
 * names itself must be loaded to know whether it will do.
 * @throws HarnessError `MODEL_PACKAGE_NOT_FOUND`, with the command that installs it; `BAD_MODEL_PACKAGE` for one that cannot be used.
 */
export function sourceOf(config: Config, folder: string | undefined): Source {
  if (config.kind === undefined) return ownSource(config, folder ?? pathToFileURL('./').href)
  const kind: Kind = KINDS[config.kind]
  resolved(kind.package, import.meta.url, `the kind "${config.kind}"`)
  let maker: Promise<MakeModel> | undefined
  return {
    kind,
    load: () => (maker ??= kind.load().then((module) => makerOf(config, kind, factoryOf(module, kind.package, kind.factory)))),
  }
}

function ownSource(config: Config, folder: string): Source {
  const { package: name = '', factory = '' } = config
  const url = resolved(name, folder, 'this row')
  let maker: Promise<MakeModel> | undefined
  const load = async (): Promise<MakeModel> => {
    const create = factoryOf((await import(/* @vite-ignore */ url)) as object, name, factory)
    return makerOf(config, { package: name }, create)
  }
  return { kind: { events: 'other' }, load: () => (maker ??= load()) }
}

function resolved(specifier: string, from: string, who: string): string {
  try {
    return moduleResolve(specifier, new URL(from), CONDITIONS).href
  } catch (cause) {
    throw new HarnessError(
      `ai-sdk-model: ${who} needs the package "${specifier}", which is not installed; run \`npm install ${specifier}\``,
      'MODEL_PACKAGE_NOT_FOUND',
      { cause },
    )
  }
}

function factoryOf(module: object, name: string, factory: string): Factory {
  const create = (module as Readonly<Record<string, unknown>>)[factory]
  if (typeof create === 'function') return create as Factory
  const makers = Object.keys(module).filter((key) => /^create[A-Z]/.test(key))
  throw new HarnessError(
    `ai-sdk-model: the package "${name}" has no function \`${factory}\`, got ${show(create)}${makers.length === 0 ? '' : `; it has ${makers.join(', ')}`}`,
    'BAD_MODEL_PACKAGE',
  )
}

/** A model is made anew when its key or its `fetch` is another one: that takes a third of a millisecond. */
function makerOf(config: Config, kind: Pick<Kind, 'package' | 'baseURL' | 'method'>, create: Factory): MakeModel {
  const { provider, headers = {}, baseURL = kind.baseURL ?? '' } = config
  const made = new Map<string, { readonly key: string | undefined; readonly fetch: Fetch; readonly model: SdkModel }>()
  return (modelId, key, fetch) => {
    const last = made.get(modelId)
    if (last?.key === key && last?.fetch === fetch) return last.model
    const sdk = create({
      name: provider,
      baseURL,
      ...(key !== undefined && { apiKey: key }),
      headers,
      fetch,
      includeUsage: true,
      transformRequestBody: withText,
    })
    const model = kind.method === undefined ? sdk(modelId) : (sdk[kind.method]?.(modelId) as SdkModel)
    if (!SPECIFICATIONS.includes(model?.specificationVersion)) {
      throw new HarnessError(
        `ai-sdk-model: the package "${kind.package}" makes models of the specification ${show(model?.specificationVersion)}; known are "v3" and "v4"`,
        'BAD_MODEL_PACKAGE',
      )
    }
    made.set(modelId, { key, fetch, model })
    return model
  }
}

/** Some servers refuse an assistant message whose content is null, as the package has it beside calls. */
function withText(body: Record<string, unknown>): Record<string, unknown> {
  for (const message of (body['messages'] ?? []) as { role: string; content: unknown }[]) {
    if (message.role === 'assistant' && message.content === null) message.content = ''
  }
  return body
}
