// SPDX-License-Identifier: BSD-2-Clause
// Retained sizes by Chrome's own code against ours, object by object. By hand, as it
// needs a package of npm's:
//
//	npm install --prefix DIR heap-snapshot-toolkit
//	heapinspect export FILE -f heapsnapshot -o x.heapsnapshot
//	heapinspect export FILE -f ndjson -o x.ndjson
//	node tests/interop/devtools.mjs DIR/node_modules x.heapsnapshot x.ndjson
import { createReadStream, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const [modules, snapshot, objects] = process.argv.slice(2)
const { parse } = await import(resolve(modules, 'heap-snapshot-toolkit/index.js'))
const parsed = await parse(createReadStream(snapshot, 'utf-8'))
const rows = readFileSync(objects, 'utf8').trim().split('\n').map((line) => JSON.parse(line))
const first = parsed.nodeCount - rows.length
let same = 0
for (const row of rows) {
  if (row.state !== 'live') continue
  const theirs = parsed.retainedSizes[first + row.id]
  if (theirs !== row.retained) throw new Error(`${JSON.stringify(row)}: theirs is ${theirs}`)
  same++
}
console.log(`${same} retained sizes are the same`)
