/** INT headers and stacks that fit each other and their carriers. */
import type { Encapsulation, Flow, Hop, IntHeaderInfo, IntVersion } from '@int/codec';
import * as fc from 'fast-check';
import type { Context } from './context.js';
import { flow } from './flow.js';
import { BLOCK_LAYOUTS, type BlockLayout, blockWords, readBlock } from './layout.js';
import { bitmap16, bits, bytesOf, word32, words } from './values.js';

/** An INT version and mode in a possible encapsulation. */
export interface Carrier {
  readonly version: IntVersion;
  readonly mode: 'md' | 'mx';
  readonly encapsulation: Encapsulation;
}

const carriers = (version: IntVersion, mode: 'md' | 'mx', ...encapsulations: Encapsulation[]): Carrier[] =>
  encapsulations.map((encapsulation) => ({ version, mode, encapsulation }));

/** All combinations of INT version, mode and encapsulation that the specifications allow. */
export const CARRIERS: readonly Carrier[] = [
  ...carriers('0.5', 'md', 'udp', 'tcp', 'vxlan-gpe', 'geneve'),
  ...carriers('1.0', 'md', 'udp', 'tcp', 'vxlan-gpe', 'geneve'),
  ...carriers('2', 'md', 'udp', 'tcp', 'udp-new', 'vxlan-gpe', 'geneve', 'gre'),
  ...carriers('2', 'mx', 'udp', 'tcp', 'udp-new', 'vxlan-gpe', 'geneve', 'gre'),
];
/** IntMon packets (profile `intmon`). */
export const INTMON: Carrier = { version: 'intmon', mode: 'md', encapsulation: 'udp' };
/** The eight-field format of int-afxdp-kafka (its profile; inside reports v1.0 only). */
export const KAFKA: Carrier = { version: '2016', mode: 'md', encapsulation: 'tcp' };

/** Most words of a stack: the length fields have 8 bits, Geneve's 5; a v0.5 tail counts too. */
function stackRoom({ version, encapsulation }: Carrier): number {
  if (encapsulation === 'geneve') return version === '2' ? 28 : 29;
  const tail = version === '2016' || (version === '0.5' && (encapsulation === 'udp' || encapsulation === 'tcp'));
  return tail ? 251 : 252;
}

/** Whether a packet can have a mark that the options recognise. */
export function isFound({ version, encapsulation }: Carrier, context: Context): boolean {
  if (encapsulation === 'udp-new' || (encapsulation === 'udp' && version === '2')) return context.byPort;
  if (version === 'intmon' || version === '2016') return true;
  return (encapsulation !== 'udp' && encapsulation !== 'tcp') || context.byDscp;
}

/** The monitored flow of a carrier; `null` in tunnels, whose contents are not IP. */
export function carrierFlow(carrier: Carrier, context: Context, inReport: boolean): fc.Arbitrary<Flow | null> {
  const { version, encapsulation } = carrier;
  switch (encapsulation) {
    case 'udp':
      // v0.5 and v1.0 keep the destination port in the UDP header, and ports take precedence.
      return flow({
        protocols: [17],
        notDestinationPorts: version === '2' || version === 'intmon' || inReport ? [] : context.beforeDscp,
      });
    case 'tcp':
      return flow({ protocols: [6], ...(version === '2016' ? { version: 4 } : {}) });
    case 'udp-new':
      return fc.oneof(flow({ protocols: [17, 6] }), flow({ protocols: ANY_PROTOCOL }));
    default:
      return fc.option(flow(), { freq: 7 });
  }
}

const ANY_PROTOCOL: readonly number[] = /* @__PURE__ */ Array.from({ length: 256 }, (_, protocol) => protocol);

/** An INT header and its hops in path order. */
export interface IntContent {
  readonly int: IntHeaderInfo;
  readonly hops: Hop[];
}

interface Drawn {
  readonly bitmap: number;
  readonly stack: readonly number[];
  /** Domain-specific words in each block, if the domain does not define the number. */
  readonly extra: number;
  readonly source: readonly number[];
  /** D, E, M. */
  readonly flags: number;
  readonly remaining: number;
  readonly domain: readonly [id: number, instructions: number, flags: number];
}

const extraWords = /* @__PURE__ */ fc.oneof(
  { arbitrary: fc.constant(0), weight: 5 },
  { arbitrary: fc.nat(12), weight: 2 },
  // Hop ML 31, whatever the bitmap demands.
  { arbitrary: fc.constant(31), weight: 1 },
);
const flagBits = /* @__PURE__ */ fc.nat(7);
const noDomain = /* @__PURE__ */ fc.constant([0, 0, 0] as const);

function domainHeader(context: Context): fc.Arbitrary<readonly [number, number, number]> {
  const known = Object.keys(context.domains).map(Number);
  return fc.oneof(
    { arbitrary: noDomain, weight: 2 },
    { arbitrary: fc.tuple(bits(16), bitmap16, bits(16)), weight: 2 },
    ...(known.length === 0 ? [] : [{ arbitrary: fc.tuple(fc.constantFrom(...known), bitmap16, bits(16)), weight: 4 }]),
  );
}

function header(carrier: Carrier, drawn: Drawn, hopMl: number | null, remaining: number | null): IntHeaderInfo {
  const { version, mode, encapsulation } = carrier;
  const md2 = version === '2' && mode === 'md';
  const [domainId, domainInstructions, domainFlags] = drawn.domain;
  return {
    mode,
    version,
    encapsulation,
    hopMl,
    remainingHopCount: remaining,
    instructionBitmap: drawn.bitmap,
    discard: version === '2' && (drawn.flags & 4) !== 0,
    hopExceeded: mode === 'md' && version !== '2016' && (drawn.flags & 2) !== 0,
    mtuExceeded: (md2 || version === '1.0') && (drawn.flags & 1) !== 0,
    domainId,
    domainInstructions,
    domainFlags,
  };
}

function hopsOf(layout: BlockLayout, drawn: Drawn, hopWords: number, count: number): Hop[] {
  const base = blockWords(layout, drawn.bitmap);
  return Array.from({ length: count }, (_, k) => {
    const at = k * hopWords;
    const domain = Array.from({ length: hopWords - base }, (_, w) => drawn.stack[at + base + w] ?? 0);
    return readBlock(layout, drawn.bitmap, drawn.stack, at, domain).hop;
  });
}

/** Words that the bits of a DS Instruction request, by mode; `undefined` for an unknown domain. */
function domainNeeds(
  context: Context,
  id: number,
  instructions: number,
): { exported: number; sourceOnly: number; sourceInserted: number } | undefined {
  const domain = context.domains[id];
  if (domain === undefined) return undefined;
  const needs = { exported: 0, sourceOnly: 0, sourceInserted: 0 };
  for (let bit = 0; bit < 16; bit++) {
    const item = domain[bit];
    if (item === undefined || (instructions & (0x8000 >>> bit)) === 0) continue;
    if (item.mode === 'source-only') needs.sourceOnly += item.bytes / 4;
    else needs.exported += item.bytes / 4;
    if (item.mode === 'source-inserted') needs.sourceInserted += item.bytes / 4;
  }
  return needs;
}

function exactly(list: readonly number[], length: number): number[] {
  return Array.from({ length }, (_, k) => list[k] ?? 0);
}

function withoutInstructions(drawn: Drawn): Drawn {
  return { ...drawn, domain: [drawn.domain[0], 0, drawn.domain[2]] };
}

/** INT-MD v2.x: the domain or the drawn number of extra words determines the length of a block. */
function contentMd2(carrier: Carrier, context: Context, room: number, drawn: Drawn): IntContent {
  const [id, instructions] = drawn.domain;
  const base = blockWords('2', drawn.bitmap);
  const needs = domainNeeds(context, id, instructions);
  const hopMl = needs === undefined ? Math.min(31, base + drawn.extra) : base + needs.exported;
  if (hopMl > 31) return contentMd2(carrier, context, room, withoutInstructions(drawn));
  let source: number[];
  let count = 0;
  if (needs !== undefined) {
    const least = needs.sourceOnly > 0 ? hopMl : 0;
    if (least + needs.sourceOnly > room) return contentMd2(carrier, context, room, withoutInstructions(drawn));
    source = exactly(drawn.source, needs.sourceOnly);
  } else if (instructions === 0) {
    source = [];
  } else {
    // Shorter than a block, which it would equal without the domain's definition.
    source = drawn.source.slice(0, hopMl === 0 ? room : hopMl - 1);
  }
  if (hopMl > 0) {
    count = Math.floor(Math.min(drawn.stack.length, room - source.length) / hopMl);
    // The source's words are in the source's block, so there must be one.
    if (count === 0 && source.length > 0) {
      if (hopMl + source.length <= room) count = 1;
      else source = [];
    }
  }
  const int = header(carrier, drawn, hopMl, drawn.remaining);
  if (source.length > 0) int.sourceMetadata = bytesOf(source);
  return { int, hops: hopsOf('2', drawn, hopMl, count) };
}

function contentMx(carrier: Carrier, context: Context, room: number, drawn: Drawn): IntContent {
  const needs = domainNeeds(context, drawn.domain[0], drawn.domain[1]);
  if (needs !== undefined && needs.sourceInserted > room) {
    return contentMx(carrier, context, room, withoutInstructions(drawn));
  }
  const source = needs === undefined ? drawn.source.slice(0, room) : exactly(drawn.source, needs.sourceInserted);
  const int = header(carrier, drawn, null, null);
  if (source.length > 0) int.sourceMetadata = bytesOf(source);
  return { int, hops: [] };
}

function layoutOf({ version }: Carrier, context: Context): BlockLayout {
  switch (version) {
    case '1.0':
      return context.layout10;
    case 'intmon':
      return '2016';
    case '2':
      return '2';
    default:
      return '0.5';
  }
}

/** Versions before 2: no domains, and the bitmap determines the length of every block. */
function contentOld(carrier: Carrier, context: Context, room: number, drawn: Drawn): IntContent {
  const { version } = carrier;
  // That format has only bits 0 to 7.
  const bitmap = version === '2016' ? drawn.bitmap & 0xff00 : drawn.bitmap;
  const layout = layoutOf(carrier, context);
  const size = blockWords(layout, bitmap);
  const count = size === 0 ? 0 : Math.min(255, Math.floor(Math.min(drawn.stack.length, room) / size));
  // In this dialect Hop ML comes from a table entry, which may not fit.
  const hopMl = version === '1.0' && layout === 'nibble3' ? drawn.extra : size;
  const remaining =
    version === '1.0' ? drawn.remaining : version === '2016' ? 0 : Math.min(drawn.remaining, 255 - count);
  const one = { ...drawn, bitmap };
  return { int: header(carrier, one, hopMl, remaining), hops: hopsOf(layout, one, size, count) };
}

/** INT headers with their hops, for one carrier. `maxWords` bounds the stack. */
export function intContent(carrier: Carrier, context: Context, maxWords: number): fc.Arbitrary<IntContent> {
  const room = Math.min(maxWords, stackRoom(carrier));
  const two = carrier.version === '2';
  const mx = carrier.mode === 'mx';
  const none = fc.constant<number[]>([]);
  return fc
    .record({
      bitmap: bitmap16,
      stack: mx ? none : words(room, 40),
      extra: (two && !mx) || carrier.version === '1.0' ? extraWords : fc.constant(0),
      source: two ? words(room, 8) : none,
      flags: flagBits,
      remaining: mx ? fc.constant(0) : bits(8),
      domain: two ? domainHeader(context) : noDomain,
    })
    .map((drawn) =>
      mx
        ? contentMx(carrier, context, room, drawn)
        : two
          ? contentMd2(carrier, context, room, drawn)
          : contentOld(carrier, context, room, drawn),
    );
}

/** Constraints of a hop. */
export interface HopConstraints {
  /** Domain-specific words (INT v2.x). Default 0. */
  readonly domainWords?: number;
}

/**
 * The metadata of one hop: exactly the fields that the bitmap selects, with decoded values of some block of words. An
 * item of all ones is `null`, which is common here.
 *
 * @param layout an INT version, or a dialect or report layout of `BLOCK_LAYOUTS`
 * @param bitmap 16-bit instruction bitmap, bit 0 = 0x8000 (`report-1.0`: the six bits are the upper six)
 * @throws RangeError for an unknown layout, a bitmap of more than 16 bits or a bad number of words
 */
export function hop(
  layout: BlockLayout | IntVersion,
  bitmap: number,
  { domainWords = 0 }: HopConstraints = {},
): fc.Arbitrary<Hop> {
  const block: BlockLayout = layout === 'intmon' ? '2016' : layout;
  if (!BLOCK_LAYOUTS.includes(block))
    throw new RangeError(`unknown layout ${layout}; one of ${BLOCK_LAYOUTS.join(', ')}`);
  if (!(Number.isInteger(bitmap) && bitmap >= 0 && bitmap <= 0xffff)) throw new RangeError('bitmap: 16 bits');
  if (!(Number.isInteger(domainWords) && domainWords >= 0 && domainWords <= 255)) {
    throw new RangeError('domainWords: 0 to 255');
  }
  const size = blockWords(block, bitmap);
  const length = size + domainWords;
  return fc
    .array(word32, { minLength: length, maxLength: length })
    .map((list) => readBlock(block, bitmap, list, 0, list.slice(size)).hop);
}
