/** Saves and restores the headers of waiting packets. */
import type { StructDataType } from '../ir/program.js';
import type { Code } from './code.js';
import { propertyOf } from './names.js';
import { isAggregate } from './storage.js';
import type { Unit } from './unit.js';

/*
 * Masks in a saved state tell which of its headers and stacks may differ from new ones. The others, usually most, are
 * skipped: the states of waiting packets are many and not in the processor's caches.
 */

const MASK_BITS = 31;

/** Names of the masks of a saved state. */
export function maskNames(headers: StructDataType): string[] {
  return Array.from({ length: Math.ceil(headers.fields.length / MASK_BITS) }, (_, index) => `$mask${index}`);
}

/** Code that tells whether a live header or stack may differ from a new one; undefined: always save it. */
function touchedCode({ type }: StructDataType['fields'][number], place: string): string | undefined {
  if (type.kind === 'header') return `${place}.$touched`;
  if (type.kind === 'stack') return `(${place}.$used !== 0 || ${place}.next !== 0)`;
  return undefined;
}

/** Saves live headers into `into.headers`. */
export function writeSaveHeaders({ types }: Unit, headers: StructDataType, root: string, code: Code): void {
  const masks = maskNames(headers);
  code.line('const saved = into.headers;');
  for (const name of masks) code.line(`let ${name} = 0;`);
  for (const [index, field] of headers.fields.entries()) {
    const property = propertyOf(field.name);
    const { type } = field;
    const touched = touchedCode(field, `${root}.${property}`);
    if (touched === undefined || !isAggregate(type)) {
      code.lines(...types.fieldCopy('move', headers, field, 'saved', root));
      continue;
    }
    const mask = masks[Math.floor(index / MASK_BITS)]!;
    const bit = 2 ** (index % MASK_BITS);
    code.open(`if (${touched}) {`);
    code.line(`${types.functionOf('move', type)}(saved.${property}, ${root}.${property});`);
    code.line(`${mask} |= ${bit};`);
    code.close(`} else if ((into.${mask} & ${bit}) !== 0) ${types.functionOf('zero', type)}(saved.${property});`);
  }
  for (const name of masks) code.line(`into.${name} = ${name};`);
}

/** Restores live headers from `from.headers`. */
export function writeLoadHeaders({ types }: Unit, headers: StructDataType, root: string, code: Code): void {
  const masks = maskNames(headers);
  code.line('const saved = from.headers;');
  for (const name of masks) code.line(`const ${name} = from.${name};`);
  for (const [index, field] of headers.fields.entries()) {
    const property = propertyOf(field.name);
    const { type } = field;
    if (touchedCode(field, '') === undefined || !isAggregate(type)) {
      code.lines(...types.fieldCopy('move', headers, field, root, 'saved'));
      continue;
    }
    const mask = masks[Math.floor(index / MASK_BITS)]!;
    const bit = 2 ** (index % MASK_BITS);
    code.line(
      `if ((${mask} & ${bit}) !== 0) ${types.functionOf('move', type)}(${root}.${property}, saved.${property});`,
    );
    code.line(`else ${types.functionOf('zero', type)}(${root}.${property});`);
  }
}
