import { expect, it } from 'vitest'
import { importConditions } from '../src/load/import-conditions.ts'

it('the conditions of an import are those of Node and those that the process was started with, in each spelling', () => {
  const asked = importConditions(['--conditions=one', '--import', 'tsx', '-C', 'two'], '--enable-source-maps -C=three --conditions four')
  expect([...asked]).toEqual(['node', 'import', 'module-sync', 'node-addons', 'three', 'four', 'one', 'two'])
})
