// SPDX-License-Identifier: BSD-2-Clause
// Retained sizes of others' programs against ours, object by object:
//
//	node heapsnapshots.mjs READERS FILE.heapsnapshot...
//
// READERS is what scripts/build-readers made; beside each FILE.heapsnapshot lies
// FILE.ndjson, the objects of the same snapshot. The readers are three programs that
// compute dominators each in its own way: Chrome's developer tools (heap-snapshot-toolkit
// has their code), VS Code's parser, and memlab.
//
// VS Code's has an algorithm that earlier developer tools had: when the dominator of a
// node changes, only those are looked at again to which it has an edge, so that a few
// dominators stay too deep in large graphs. Where it differs, the definition decides:
// what a node retains is what no root leads to without it. It cannot read allocation
// traces, nor those that V8 itself writes, and gets files without them.
import assert from 'node:assert/strict'
import { createReadStream, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'

const [readers, ...files] = process.argv.slice(2)
const require = createRequire(resolve(readers, 'package.json'))
const { parse } = await import(pathToFileURL(require.resolve('heap-snapshot-toolkit')))
const vscode = require('@vscode/v8-heap-parser')
const memlab = require('@memlab/core')
memlab.config.muteConsole = true

const WEAK = 6 // kind of an edge
const ROOT_KINDS = 8 // children of the root
const MOST_BY_DEFINITION = 20 // of a file

// Each gives a Map from a node's id to [name, own size, retained size]; the ids in a
// heapsnapshot are 2 * position + 1.

async function byDevTools(file) {
  const parsed = await parse(createReadStream(file, 'utf-8'))
  const found = new Map()
  const node = parsed.createNode(0)
  for (let i = 0; i < parsed.nodeCount; i++) {
    node.nodeIndex = i * 7
    found.set(node.id(), [node.rawName(), node.selfSize(), parsed.retainedSizes[i]])
  }
  return found
}

function withoutTraces(file) {
  const bytes = readFileSync(file)
  const json = JSON.parse(bytes.toString('utf8'))
  if (!json.trace_tree.length) return bytes
  return Buffer.from(JSON.stringify({ ...json, trace_tree: [] }))
}

function byVSCode(file) {
  const graph = vscode.decode_bytes(withoutTraces(file))
  const found = new Map()
  const seen = new Set([graph.root_index])
  const toVisit = [[graph.root_index, ROOT_KINDS]]
  while (toVisit.length) {
    const [index, count] = toVisit.pop()
    for (const node of graph.node_children(index, 0, count, vscode.WasmSortBy.SelfSize)) {
      if (!seen.has(node.index)) {
        seen.add(node.index)
        found.set(node.id, [node.name(), Number(node.self_size), Number(node.retained_size)])
        if (node.children_len) toVisit.push([node.index, node.children_len])
      }
      node.free()
    }
  }
  graph.free()
  return found
}

async function byMemlab(file) {
  const heap = await memlab.utils.getSnapshotFromFile(file, { buildNodeIdIndex: true, verbose: false })
  const found = new Map()
  memlab.analysis.preparePathFinder(heap)
  heap.nodes.forEach((node) => { found.set(node.id, [node.name, node.self_size, node.retainedSize]) })
  return found
}

// The graph as the file has it, without weak edges.
class Definition {
  constructor(file) {
    const { nodes, edges, snapshot } = JSON.parse(readFileSync(file, 'utf8'))
    this.size = new Float64Array(snapshot.node_count)
    this.row = new Uint32Array(snapshot.node_count + 1)
    this.to = []
    let edge = 0
    for (let i = 0; i < snapshot.node_count; i++) {
      this.size[i] = nodes[7 * i + 3]
      for (const end = edge + nodes[7 * i + 4]; edge < end; edge++) {
        if (edges[3 * edge] !== WEAK) this.to.push(edges[3 * edge + 2] / 7)
      }
      this.row[i + 1] = this.to.length
    }
    this.all = this.reached(-1)
  }

  // Bytes that the root leads to, not by way of one node.
  reached(without) {
    const seen = new Uint8Array(this.size.length)
    const toVisit = [0]
    let bytes = 0
    seen[0] = 1
    if (without >= 0) seen[without] = 1
    while (toVisit.length) {
      const node = toVisit.pop()
      bytes += this.size[node]
      for (let i = this.row[node]; i < this.row[node + 1]; i++) {
        if (!seen[this.to[i]]) {
          seen[this.to[i]] = 1
          toVisit.push(this.to[i])
        }
      }
    }
    return bytes
  }

  retained(node) {
    return this.all - this.reached(node)
  }
}

// How many live objects there are; calls `differs` with each about which they differ.
function compare(rows, nodeCount, found, differs) {
  const first = nodeCount - rows.length
  let live = 0
  for (const row of rows) {
    if (row.state !== 'live') continue
    const theirs = found.get(2 * (first + row.id) + 1)
    const ours = [row.type ?? '(untyped)', row.shallow, row.retained]
    if (!isDeepStrictEqual(theirs, ours)) differs(first + row.id, theirs, ours)
    live++
  }
  return live
}

function refuse(file, reader) {
  return (node, theirs, ours) =>
    assert.deepEqual(theirs, ours, `${file}, node ${node}: ${reader}'s and ours`)
}

let live = 0
let byDefinition = 0
for (const file of files) {
  const lines = readFileSync(file.replace(/heapsnapshot$/, 'ndjson'), 'utf8').split('\n')
  const rows = lines.filter((line) => line).map((line) => JSON.parse(line))
  const devTools = await byDevTools(file)
  const n = devTools.size
  let definition
  let asked = 0
  live += compare(rows, n, devTools, refuse(file, 'DevTools'))
  compare(rows, n, await byMemlab(file), refuse(file, 'memlab'))
  compare(rows, n, byVSCode(file), (node, theirs, ours) => {
    assert.deepEqual(theirs?.slice(0, 2), ours.slice(0, 2), `${file}, node ${node}`)
    assert(++asked <= MOST_BY_DEFINITION, `${file}: VS Code differs everywhere`)
    definition ??= new Definition(file)
    assert.equal(ours[2], definition.retained(node), `${file}, node ${node}: by definition`)
  })
  byDefinition += asked
}
console.log(JSON.stringify({ files: files.length, live, byDefinition }))
