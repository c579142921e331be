// SPDX-License-Identifier: BSD-2-Clause
// Allocation traces of a .heapsnapshot as Chrome's developer tools read them:
//
//	node traces.mjs READERS FILE.heapsnapshot
//
// READERS is what scripts/build-readers made. Prints the functions of the tab
// "Allocation", and for each stack how many objects it allocated, and their bytes.
import { createReadStream, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [readers, file] = process.argv.slice(2)
const require = createRequire(resolve(readers, 'package.json'))
const { parse } = await import(pathToFileURL(require.resolve('heap-snapshot-toolkit')))
const snapshot = await parse(createReadStream(file, 'utf-8'))

const functions = snapshot.allocationTracesTops().map(
  ({ name, scriptName, line, count, size, liveCount, liveSize }) =>
    ({ name, file: scriptName, line, count, size, liveCount, liveSize }))

const stacks = new Map()
const node = snapshot.createNode(0)
for (let i = 0; i < snapshot.nodeCount; i++) {
  node.nodeIndex = i * 7
  if (!node.traceNodeId()) continue
  const frames = snapshot.allocationStack(node.nodeIndex).map((f) => f.functionName)
  const key = frames.join('<')
  const sum = stacks.get(key) ?? { functions: key, objects: 0, bytes: 0 }
  sum.objects++
  sum.bytes += node.selfSize()
  stacks.set(key, sum)
}
const { snapshot: { trace_function_count: count } } = JSON.parse(readFileSync(file, 'utf8'))
console.log(JSON.stringify({ count, functions, points: [...stacks.values()] }))
