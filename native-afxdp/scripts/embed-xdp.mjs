// @ts-check
// Compiles the XDP programs with clang and writes them as C arrays to xdp/generated, so that nobody who installs the
// package needs a compiler for them. Reads the object files itself. Conventions: see xdp/bpf.h.
//
//   node scripts/embed-xdp.mjs             writes xdp/generated/*.h
//   node scripts/embed-xdp.mjs --check     says whether they are what clang makes now
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const XDP = join(dirname(dirname(fileURLToPath(import.meta.url))), 'xdp');

/** @typedef {{ name: string, source: string, defines: string[] }} Program */

/** The programs, by the name they are loaded by. */
export const PROGRAMS = /** @type {Program[]} */ ([
  { name: 'steer', source: 'steer.bpf.c', defines: [] },
  { name: 'prefilter_array', source: 'prefilter.bpf.c', defines: [] },
  { name: 'prefilter_hash', source: 'prefilter.bpf.c', defines: ['STATE_HASH'] },
]);

/** Written before anything is compiled. */
export const CRC_TABLES = join(XDP, 'crc_tables.h');

/** How they are compiled. */
export const FLAGS = ['-O2', '-target', 'bpf', '-mcpu=v3', '-g0', '-ffreestanding', '-Wall', '-Wextra', '-Werror'];

const MAP_TYPE_ARRAY = 2;
/** Flag of a map that programs only read. */
const BPF_F_RDONLY_PROG = 0x80;
/** A load of 64 bits: two instructions, the only ones with relocations. */
const LOAD_64 = 0x18;
/** Register fields of such a load: the immediate is a map, or a map and an offset in its first value. */
const PSEUDO_MAP = 1;
const PSEUDO_MAP_VALUE = 2;

/**
 * @typedef {object} MapDefinition
 * @property {string} name
 * @property {number} type
 * @property {number} keySize
 * @property {number} valueSize
 * @property {number} entries
 * @property {number} flags
 * @property {Uint8Array | null} contents of the first entry, where it is not zeros
 */

/**
 * @typedef {object} Image
 * @property {Instruction[]} code a load of a map has the map's index as immediate
 * @property {MapDefinition[]} maps
 */

/** @typedef {{ code: number, destination: number, source: number, offset: number, immediate: number }} Instruction */

/**
 * Reads a program from a 64-bit little-endian ELF object.
 *
 * @param {Uint8Array} object
 * @returns {Image}
 */
export function readObject(object) {
  const view = new DataView(object.buffer, object.byteOffset, object.byteLength);
  if (view.getUint32(0) !== 0x7f454c46 || object[4] !== 2 || object[5] !== 1) {
    throw new Error('not a 64-bit little-endian ELF object');
  }
  const sections = readSections(view);
  const symbols = readSymbols(view, sections);
  const program = sections.findIndex(({ name }) => name === 'xdp');
  if (program < 0) throw new Error('no section "xdp"');

  /** @type {MapDefinition[]} */
  const maps = [];
  /** Index in `maps` by section and offset in it. @type {Map<string, number>} */
  const places = new Map();
  const definitions = sections.findIndex(({ name }) => name === 'maps');
  for (const { name, section, value } of symbols.toSorted((a, b) => a.value - b.value)) {
    if (section !== definitions || name === '') continue;
    const at = sectionAt(sections, definitions).offset + value;
    places.set(`${section} ${value}`, maps.length);
    maps.push({
      name,
      type: view.getUint32(at, true),
      keySize: view.getUint32(at + 4, true),
      valueSize: view.getUint32(at + 8, true),
      entries: view.getUint32(at + 12, true),
      flags: view.getUint32(at + 16, true),
      contents: null,
    });
  }
  let constants = 0;
  for (const [index, { name, offset, size }] of sections.entries()) {
    const isData = name.startsWith('.data.');
    if (size === 0 || !(isData || name.startsWith('.rodata'))) continue;
    const bytes = object.slice(offset, offset + size);
    places.set(`${index}`, maps.length);
    maps.push({
      name: isData ? name.slice(6) : `constants${constants++}`,
      type: MAP_TYPE_ARRAY,
      keySize: 4,
      valueSize: size,
      entries: 1,
      flags: isData ? 0 : BPF_F_RDONLY_PROG,
      contents: bytes.some((byte) => byte !== 0) ? bytes : null,
    });
  }

  const code = readCode(view, sectionAt(sections, program));
  for (const { name, offset, size, info } of sections) {
    if (name !== '.relxdp' || info !== program) continue;
    for (let at = offset; at < offset + size; at += 16) {
      const index = Number(view.getBigUint64(at, true)) / 8;
      const type = view.getUint32(at + 8, true);
      const symbol = symbols[view.getUint32(at + 12, true)];
      const load = code[index];
      const second = code[index + 1];
      if (type !== 1 || load?.code !== LOAD_64 || second === undefined || symbol === undefined) {
        throw new Error(`relocation of instruction ${index} is not of a map`);
      }
      const isMap = symbol.section === definitions;
      const map = places.get(isMap ? `${symbol.section} ${symbol.value}` : `${symbol.section}`);
      if (map === undefined) throw new Error(`'${symbol.name}' is in no section for maps or data`);
      if (!isMap) second.immediate = load.immediate + symbol.value;
      load.source = isMap ? PSEUDO_MAP : PSEUDO_MAP_VALUE;
      load.immediate = map;
    }
  }
  return { code, maps };
}

/**
 * @param {DataView} view
 * @returns {{ name: string, type: number, offset: number, size: number, link: number, info: number }[]}
 */
function readSections(view) {
  const table = Number(view.getBigUint64(40, true));
  const count = view.getUint16(60, true);
  const names = view.getUint16(62, true);
  const at = (/** @type {number} */ index) => table + index * 64;
  const strings = Number(view.getBigUint64(at(names) + 24, true));
  return Array.from({ length: count }, (_, index) => ({
    name: text(view, strings + view.getUint32(at(index), true)),
    type: view.getUint32(at(index) + 4, true),
    offset: Number(view.getBigUint64(at(index) + 24, true)),
    size: Number(view.getBigUint64(at(index) + 32, true)),
    link: view.getUint32(at(index) + 40, true),
    info: view.getUint32(at(index) + 44, true),
  }));
}

/**
 * @param {ReturnType<typeof readSections>} sections
 * @param {number} index
 */
function sectionAt(sections, index) {
  const section = sections[index];
  if (section === undefined) throw new Error(`no section ${index}`);
  return section;
}

/**
 * @param {DataView} view
 * @param {ReturnType<typeof readSections>} sections
 * @returns {{ name: string, section: number, value: number }[]}
 */
function readSymbols(view, sections) {
  const table = sections.find(({ type }) => type === 2);
  if (table === undefined) throw new Error('no symbols');
  const strings = sectionAt(sections, table.link).offset;
  return Array.from({ length: table.size / 24 }, (_, index) => {
    const at = table.offset + index * 24;
    return {
      name: text(view, strings + view.getUint32(at, true)),
      section: view.getUint16(at + 6, true),
      value: Number(view.getBigUint64(at + 8, true)),
    };
  });
}

/**
 * @param {DataView} view
 * @param {{ offset: number, size: number }} section
 * @returns {Instruction[]}
 */
function readCode(view, { offset, size }) {
  return Array.from({ length: size / 8 }, (_, index) => {
    const at = offset + index * 8;
    const registers = view.getUint8(at + 1);
    return {
      code: view.getUint8(at),
      destination: registers & 15,
      source: registers >> 4,
      offset: view.getInt16(at + 2, true),
      immediate: view.getInt32(at + 4, true),
    };
  });
}

/**
 * @param {DataView} view
 * @param {number} at
 */
function text(view, at) {
  let result = '';
  for (let byte = view.getUint8(at); byte !== 0; byte = view.getUint8(++at)) result += String.fromCharCode(byte);
  return result;
}

/**
 * The program as C source.
 *
 * @param {Program} program
 * @param {Image} image
 * @param {string} compiler first line of what `clang --version` says
 */
export function render({ name, source, defines }, { code, maps }, compiler) {
  const how = ['clang', ...FLAGS, ...defines.map((define) => `-D${define}`)].join(' ');
  const lines = [
    '/* SPDX-License-Identifier: Apache-2.0 */',
    `/* Written by scripts/embed-xdp.mjs from xdp/${source}; do not edit. */`,
    `/* ${how} */`,
    `/* ${compiler} */`,
    `static const struct bpf_insn ${name}_code[] = {`,
    ...rows(code.map((each) => `{${Object.values(each).join(',')}}`)),
    '};',
  ];
  for (const { name: map, contents } of maps) {
    if (contents === null) continue;
    const data = new DataView(contents.buffer, contents.byteOffset);
    const isWords = contents.length % 4 === 0;
    const items = Array.from({ length: isWords ? contents.length / 4 : contents.length }, (_, index) =>
      isWords ? `0x${data.getUint32(index * 4, true).toString(16)}` : `${contents[index]}`,
    );
    lines.push(`static const ${isWords ? 'uint32_t' : 'uint8_t'} ${name}_${map}[] = {`, ...rows(items), '};');
  }
  lines.push(`static const struct xsk_program_map ${name}_maps[] = {`);
  for (const { name: map, type, keySize, valueSize, entries, flags, contents } of maps) {
    const initial = contents === null ? 'NULL' : `${name}_${map}`;
    lines.push(`\t{ "${map}", ${type}, ${keySize}, ${valueSize}, ${entries}, ${flags}, ${initial} },`);
  }
  lines.push(
    '};',
    `static const struct xsk_program_image ${name}_image = {`,
    `\t"${name}", ${name}_code, ${code.length}, ${name}_maps, ${maps.length},`,
    '};',
    '',
  );
  return lines.join('\n');
}

/**
 * Puts as many items on a line as fit.
 *
 * @param {string[]} items
 */
function rows(items) {
  const lines = [];
  let line = '\t';
  for (const item of items) {
    if (line.length + item.length + 2 > 110) {
      lines.push(line.trimEnd());
      line = '\t';
    }
    line += `${item}, `;
  }
  lines.push(line.trimEnd());
  return lines;
}

/** The file xdp/crc_tables.h: table k of CRC-32 is of a byte with k more behind it. */
export function crcTables() {
  let table = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    return crc;
  });
  const first = table;
  const lines = [
    '/* SPDX-License-Identifier: Apache-2.0 */',
    '/* Written by scripts/embed-xdp.mjs; do not edit. CRC-32 of a byte with k bytes behind it, in table k. */',
    '#include <stdint.h>',
    '',
    'static const uint32_t crc_tables[13][256] = {',
  ];
  for (let k = 0; k < 13; k++) {
    lines.push('\t{', ...rows([...table].map((crc) => `0x${crc.toString(16)}`)), '\t},');
    table = table.map((crc) => (crc >>> 8) ^ (first[crc & 255] ?? 0));
  }
  return [...lines, '};', ''].join('\n');
}

/**
 * First line of what `clang --version` says.
 *
 * @param {string} clang
 */
export function compilerOf(clang) {
  const [first = ''] = execFileSync(clang, ['--version'], { encoding: 'utf8' }).split('\n', 1);
  return first;
}

/**
 * Compiles a program.
 *
 * @param {Program} program
 * @param {string} [clang]
 * @returns {Uint8Array} the object
 */
export function compile(program, clang = 'clang') {
  const folder = mkdtempSync(join(tmpdir(), 'embed-xdp-'));
  try {
    const object = join(folder, 'program.o');
    const defines = program.defines.map((define) => `-D${define}`);
    execFileSync(clang, [...FLAGS, ...defines, '-c', program.source, '-o', object], { cwd: XDP, stdio: 'inherit' });
    return readFileSync(object);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * A program as it stands in xdp/generated.
 *
 * @param {Program} program
 * @param {string} [clang]
 */
export function embed(program, clang = 'clang') {
  return render(program, readObject(compile(program, clang)), compilerOf(clang));
}

/**
 * Where a program's generated file is.
 *
 * @param {Program} program
 */
export function generatedFile({ name }) {
  return join(XDP, 'generated', `${name}.h`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isCheck = process.argv.includes('--check');
  const settle = (/** @type {string} */ file, /** @type {string} */ made) => {
    if (existsSync(file) && readFileSync(file, 'utf8') === made) return;
    if (isCheck) {
      console.error(`${file} is not what ${compilerOf('clang')} makes: run node scripts/embed-xdp.mjs`);
      process.exitCode = 1;
    } else {
      writeFileSync(file, made);
      console.log(`${file}: written`);
    }
  };
  settle(CRC_TABLES, crcTables());
  for (const program of PROGRAMS) settle(generatedFile(program), embed(program));
}
