// SPDX-License-Identifier: BSD-2-Clause
// Tables as DuckDB and hyparquet read them.
//
//	node tables.mjs READERS DIRECTORY
//
// DIRECTORY has TABLE.parquet, TABLE.csv and TABLE.ndjson for the tables objects, edges,
// types and roots of one snapshot. All three must have the same rows for DuckDB, and the
// first and the last for hyparquet; prints sums of them for the caller to compare.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [readers, directory] = process.argv.slice(2)
const require = createRequire(resolve(readers, 'package.json'))
const load = (name) => import(pathToFileURL(require.resolve(name)))
const { DuckDBInstance } = require('@duckdb/node-api')
const { parquetReadObjects, parquetMetadata } = await load('hyparquet')
const { compressors } = await load('hyparquet-compressors')
const tables = ['objects', 'edges', 'types', 'roots']

const db = await (await DuckDBInstance.create(':memory:')).connect()

async function ask(sql) {
  const result = await db.runAndReadAll(sql)
  return result.getRowObjects()
}

// A text of the file names is no expression of SQL.
const quoted = (path) => `'${path.replaceAll("'", "''")}'`

async function openTables(name) {
  const parquet = quoted(join(directory, `${name}.parquet`))
  await db.run(`CREATE VIEW ${name} AS SELECT * FROM read_parquet(${parquet})`)
  const columns = await ask(`DESCRIBE ${name}`)
  for (const { column_name: column, column_type: type } of columns) {
    assert(type === 'UBIGINT' || type === 'VARCHAR', `${name}.${column} is ${type}`)
  }
  // The other forms write an address as 0x..., and the heading of CSV names the columns.
  const texts = columns.map(({ column_name: column }) => `'${column}': 'VARCHAR'`).join(', ')
  const csv = quoted(join(directory, `${name}.csv`))
  const ndjson = quoted(join(directory, `${name}.ndjson`))
  await db.run(`CREATE VIEW ${name}_csv AS SELECT * FROM read_csv(${csv}, header = true,
    delim = ',', quote = '"', escape = '"', nullstr = '', columns = {${texts}})`)
  await db.run(`CREATE VIEW ${name}_ndjson AS SELECT * FROM read_json(${ndjson},
    format = 'newline_delimited', columns = {${texts}})`)
  return columns.map(({ column_name: column }) => column === 'address'
    ? `format('0x{:x}', address)` : `CAST("${column}" AS VARCHAR)`).join(', ')
}

async function compareForms(name) {
  const wanted = await openTables(name)
  for (const other of [`${name}_csv`, `${name}_ndjson`]) {
    const [{ n }] = await ask(`SELECT count(*) AS n FROM ((SELECT ${wanted} FROM ${name}
      EXCEPT ALL SELECT * FROM ${other}) UNION ALL (SELECT * FROM ${other} EXCEPT ALL
      SELECT ${wanted} FROM ${name}))`)
    assert.equal(n, 0n, `${name} and ${other} differ`)
  }
}

// Row by row, and the keys of the file.
async function compareHyparquet(name) {
  const bytes = readFileSync(join(directory, `${name}.parquet`))
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  const { num_rows: count, row_groups: groups, key_value_metadata: keys } = parquetMetadata(file)
  const rows = await parquetReadObjects({ file, compressors })
  const lines = readFileSync(join(directory, `${name}.ndjson`), 'utf8').split('\n')
  lines.pop()
  assert.equal(Number(count), lines.length)
  assert.equal(rows.length, lines.length)
  rows.forEach((row, i) => {
    const ours = {}
    for (const [key, value] of Object.entries(row)) {
      ours[key] = typeof value !== 'bigint' ? value ?? null
        : key === 'address' ? `0x${value.toString(16)}` : Number(value)
    }
    assert.deepEqual(ours, JSON.parse(lines[i]), `${name}, row ${i}`)
  })
  assert.equal(keys.find(({ key }) => key === 'heapinspect.table').value, name)
  return groups.length
}

const found = {}
for (const name of tables) {
  await compareForms(name)
  found[`${name}_groups`] = await compareHyparquet(name)
}
const [sums] = await ask(`SELECT
  (SELECT count(*) FROM objects WHERE state = 'live') AS live_objects,
  (SELECT sum(shallow) FROM objects WHERE state = 'live') AS live_bytes,
  (SELECT count(*) FROM objects WHERE state = 'leak') AS leak_objects,
  (SELECT sum(shallow) FROM objects WHERE state = 'leak') AS leak_bytes,
  (SELECT sum(count) FROM types) AS typed_objects,
  (SELECT sum(shallow) FROM types) AS typed_bytes,
  (SELECT count(*) FROM edges) AS edges,
  (SELECT count(*) FROM edges WHERE target NOT IN (SELECT id FROM objects)
    OR source NOT IN (SELECT id FROM objects UNION ALL SELECT node FROM roots)) AS loose_edges,
  (SELECT count(*) FROM (SELECT type_id, sum(shallow) AS bytes FROM objects
    WHERE state = 'live' GROUP BY type_id) AS o JOIN types ON types.id = o.type_id
    WHERE o.bytes <> types.shallow) AS wrong_types`)
for (const [key, value] of Object.entries(sums)) found[key] = Number(value ?? 0)
console.log(JSON.stringify(found))
