// SPDX-License-Identifier: BSD-2-Clause
// The order of the rows of a table by one of its columns.

const units = {
  '': 1, '%': 1e6,
  B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, PiB: 2 ** 50, EiB: 2 ** 60,
  ns: 1e-9, us: 1e-6, 'µs': 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400,
}
const figure = /^(?:[≥≤<>~+] ?)?([-−]?)(\d[\d,]*(?:\.\d+)?) ?(%|[A-Za-zµ]*)$/
const collator = new Intl.Collator('en', { numeric: true })

// What a text says as a number; NaN if it says none.
export function numberOf(text) {
  if (/^0x[0-9a-f]+$/i.test(text)) return Number(text)
  const [, sign, digits, unit] = figure.exec(text) ?? []
  if (digits === undefined || !Object.hasOwn(units, unit)) return NaN
  return (sign ? -1 : 1) * Number(digits.replaceAll(',', '')) * units[unit]
}

// The value of a cell: a number, else its text; undefined: it has none, or it is unknown.
export function valueOf(cell) {
  const exact = cell?.getAttribute('data-v')
  if (exact) return Number(exact)
  const text = cell?.textContent.trim() ?? ''
  if (text === '' || text === '?') return undefined
  const number = numberOf(text)
  return Number.isNaN(number) ? text : number
}

// Numbers stand in front of texts; what is unknown is last in both directions.
export function compareValues(a, b, descending) {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  const sign = descending ? -1 : 1
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b)
  if (typeof a === 'number') return -1
  if (typeof b === 'number') return 1
  return sign * collator.compare(a, b)
}

// The rows in the order of column `at`; equal ones stay as they are.
export function sortedRows(rows, at, descending) {
  return rows
    .map((row) => ({ row, value: valueOf(row.cells[at]) }))
    .sort((a, b) => compareValues(a.value, b.value, descending))
    .map(({ row }) => row)
}

// Has the text all words of the query?
export function matches(text, query) {
  const folded = text.toLowerCase()
  return query.toLowerCase().split(/\s+/).every((word) => folded.includes(word))
}
