// SPDX-License-Identifier: BSD-2-Clause
// Pages that are in the file, but not in the document: report/render/html_pack.h. Pages that
// were packed together are unpacked together, and wait outside of the document.

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return new Response(stream).text()
}

// Pages by their ids: find() returns a promise of a page, in the document or not; null: there
// is none. show() puts a page into the document; it returns null where there is nothing to do,
// else a promise.
export function packedPages(document, unpack = (text) => inflate(bytesOf(text))) {
  const templates = new Map() // id: the template that has it
  const unpacked = new Map() // template: a promise of its sections, by id

  for (const template of document.querySelectorAll('template.packed')) {
    for (const id of template.dataset.ids.split(' ')) templates.set(id, template)
  }
  const open = async (template) => {
    const text = await unpack(template.content?.textContent || template.textContent)
    // The file's own markup, with the names in it escaped; what is parsed so runs no script.
    const parsed = new document.defaultView.DOMParser().parseFromString(
      `<!DOCTYPE html><html><body>${text}</body></html>`, 'text/html')
    return new Map([...parsed.querySelectorAll('section[id]')]
      .map((section) => [section.id, document.importNode(section, true)]))
  }
  const find = async (id) => {
    const template = templates.get(id)
    if (!template) return document.getElementById(id)
    if (!unpacked.has(template)) unpacked.set(template, open(template))
    return (await unpacked.get(template)).get(id) ?? null
  }
  const show = (id) => {
    const template = templates.get(id)
    if (!template) return null
    return find(id).then((section) => {
      if (section && !section.isConnected) template.before(section)
    })
  }
  return { find, show: (id) => (document.getElementById(id) ? null : show(id)) }
}
