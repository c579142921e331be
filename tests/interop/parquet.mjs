// SPDX-License-Identifier: BSD-2-Clause
// Is a Parquet file what lines of JSON say?
//
//	node parquet.mjs READERS FILE.parquet FILE.ndjson
//
// For DuckDB as sets of rows, for hyparquet row by row. Prints rows and groups.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [readers, parquet, ndjson] = process.argv.slice(2)
const require = createRequire(resolve(readers, 'package.json'))
const load = (name) => import(pathToFileURL(require.resolve(name)))
const { DuckDBInstance } = require('@duckdb/node-api')
const { parquetReadObjects, parquetMetadata } = await load('hyparquet')
const { compressors } = await load('hyparquet-compressors')

const lines = readFileSync(ndjson, 'utf8').split('\n').filter((line) => line)
// Numbers as texts: some are more than a double can hold.
const wanted = lines.map((line) => JSON.parse(line.replaceAll(/:\s*(\d+)(?=[,}])/g, ':"$1"')))

const bytes = readFileSync(parquet)
const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
const rows = await parquetReadObjects({ file, compressors })
const plain = (row) => Object.fromEntries(Object.entries(row).map(
  ([key, value]) => [key, typeof value === 'bigint' ? String(value) : value ?? null]))
assert.deepEqual(rows.map(plain), wanted)

const db = await (await DuckDBInstance.create(':memory:')).connect()
const read = await db.runAndReadAll(`SELECT * FROM read_parquet('${parquet}')`)
assert.deepEqual(read.getRowObjects().map(plain), wanted)
console.log(JSON.stringify({ rows: rows.length, groups: parquetMetadata(file).row_groups.length }))
