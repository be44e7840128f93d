/** Checks the rule of a source, and derives from it what all packets have in common. */
import { encodeIntHeader, joinDomain } from '../encode/int-header.js';
import { requireFit } from '../headers/codec.js';
import { hopBlock } from '../headers/hop.js';
import type { Hop } from '../model.js';
import type { DomainItem } from '../options.js';
import { LAYOUT, planFor, VERSION_LAYOUT } from '../plan.js';
import type { SourceConfig, SourceEncapsulation } from './config.js';
import { SOURCE_ENCAPSULATIONS } from './config.js';

const VERSIONS: Readonly<Record<SourceEncapsulation, readonly string[]>> = {
  port: ['0.5', '2'],
  dscp: ['0.5', '1.0', '2'],
  'probe-marker': ['1.0', '2'],
  'new-udp': ['2'],
  gre: ['2'],
  'gre-new': ['2'],
  'vxlan-gpe': ['0.5', '1.0', '2'],
  geneve: ['0.5', '1.0', '2'],
  intmon: ['0.5', '1.0', '2'],
};
const DEFAULT_HOPS = 8;

/** A checked rule. */
export interface SourceRule {
  readonly encapsulation: SourceEncapsulation;
  readonly version: '0.5' | '1.0' | '2' | 'intmon';
  readonly mx: boolean;
  readonly layout: number;
  readonly bitmap: number;
  /** Words that every hop pushes. */
  readonly hopMl: number;
  readonly maxHops: number;
  /** Items of the DS Instruction bits that are set, in bit order. */
  readonly items: readonly DomainItem[];
  /** Bytes of `items` that every hop pushes. */
  readonly exportBytes: number;
  /** Bytes of `items` that only the source adds. */
  readonly sourceBytes: number;
  /** Bytes of the INT header, stack and source-inserted metadata excluded. */
  readonly headerBytes: number;
}

function domainItems(config: SourceConfig): DomainItem[] {
  const id = config.domainId ?? 0;
  const bits = config.domainInstructions ?? 0;
  requireFit('domainId', id, 16);
  requireFit('domainInstructions', bits, 16);
  requireFit('domainFlags', config.domainFlags ?? 0, 16);
  const items: DomainItem[] = [];
  for (let bit = 0; bit < 16; bit++) {
    if ((bits & (0x8000 >>> bit)) === 0) continue;
    const item = config.domains?.[id]?.[bit];
    if (item === undefined) throw new RangeError(`domainInstructions: domain ${id} does not define bit ${bit}`);
    items.push(item);
  }
  return items;
}

const rules = /* @__PURE__ */ new WeakMap<SourceConfig, SourceRule>();

/**
 * Checks the configuration of a source, once for each object.
 *
 * @throws RangeError that names the wrong option
 */
export function sourceRule(config: SourceConfig): SourceRule {
  let rule = rules.get(config);
  if (rule === undefined) {
    rule = checkRule(config);
    rules.set(config, rule);
  }
  return rule;
}

function checkRule(config: SourceConfig): SourceRule {
  const encapsulation = config.encapsulation ?? 'port';
  const name = config.version ?? '2';
  if (!SOURCE_ENCAPSULATIONS.includes(encapsulation)) throw new RangeError(`unknown encapsulation ${encapsulation}`);
  if (!VERSIONS[encapsulation].includes(name)) {
    throw new RangeError(`encapsulation ${encapsulation} is not defined for version ${name}`);
  }
  const version = encapsulation === 'intmon' ? 'intmon' : name;
  const mx = config.mode === 'mx';
  if (mx && version !== '2') throw new RangeError('mode mx is defined for version 2 only');
  requireFit('instructions', config.instructions, 16);
  if (version === 'intmon' && (config.instructions & 0xff) !== 0) {
    throw new RangeError('instructions: IntMon defines bits 0 to 7 only');
  }
  const maxHops = config.maxHops ?? DEFAULT_HOPS;
  requireFit('maxHops', maxHops, 8);
  if (maxHops === 0) throw new RangeError('maxHops must be at least 1');
  if (config.mtu !== undefined) requireFit('mtu', config.mtu, 32);
  const items = version === '2' ? domainItems(config) : [];
  const ownMode = mx ? 'source-inserted' : 'source-only';
  let sourceBytes = 0;
  let exportBytes = 0;
  for (const { bytes, mode } of items) {
    if (mode === ownMode) sourceBytes += bytes;
    else exportBytes += bytes;
  }
  const layout = VERSION_LAYOUT[version];
  const hopMl = mx ? 0 : planFor(layout, config.instructions).words + exportBytes / 4;
  if (hopMl > 31) throw new RangeError(`the instructions ask for ${hopMl} words of each hop; Hop ML has room for 31`);
  return {
    encapsulation,
    version,
    mx,
    layout,
    bitmap: config.instructions,
    hopMl,
    maxHops,
    items,
    // INT-MX carries nothing that nodes export.
    exportBytes: mx ? 0 : exportBytes,
    sourceBytes,
    headerBytes: version === '2' || version === 'intmon' ? 12 : 8,
  };
}

/** State of a header that is being written. */
export interface HeaderState {
  /** Hops that may push, the source included. */
  readonly hops: number;
  readonly pushed: boolean;
  readonly mtuExceeded: boolean;
  /** Bytes behind the header. */
  readonly stackBytes: number;
  /** IntMon: original UDP destination port. */
  readonly destinationPort: number;
}

/** The INT header of a rule. */
export function encodeHeader(rule: SourceRule, config: SourceConfig, state: HeaderState): Uint8Array {
  const hops = state.pushed ? 1 : 0;
  return encodeIntHeader({
    ...state,
    version: rule.version,
    mx: rule.mx,
    instructionBitmap: rule.bitmap,
    hopMl: rule.hopMl,
    hops,
    remainingHopCount: state.hops - hops,
    discard: config.discard ?? false,
    hopExceeded: false,
    domainId: config.domainId ?? 0,
    domainInstructions: config.domainInstructions ?? 0,
    domainFlags: config.domainFlags ?? 0,
  });
}

/**
 * The source's own bytes: its block, which contains what only the source adds. If the source pushes nothing, what only
 * the source adds is all.
 *
 * @param metadata the values of the source, or `null` to push nothing
 * @throws RangeError for values out of range, or for domain-specific bytes whose size is not that of the domain
 */
export function encodeStack(
  rule: SourceRule,
  metadata: Hop | null,
  sourceMetadata: Uint8Array | undefined,
): Uint8Array {
  const { layout, bitmap, exportBytes, sourceBytes, items } = rule;
  const sourceOnly = sourceMetadata ?? new Uint8Array(sourceBytes).fill(0xff);
  if (sourceOnly.length !== sourceBytes) {
    throw new RangeError(`sourceMetadata must be ${sourceBytes} bytes, not ${sourceOnly.length}`);
  }
  if (metadata === null) return sourceOnly;
  const exported = metadata.domain ?? new Uint8Array(exportBytes).fill(0xff);
  if (exported.length !== exportBytes) {
    throw new RangeError(`metadata.domain must be ${exportBytes} bytes, not ${exported.length}`);
  }
  const domain = joinDomain(items, exported, sourceOnly);
  const values: Hop = { ...metadata, domain };
  if (layout === LAYOUT.V2 || layout === LAYOUT.V10) values.checksumComplement = null;
  return hopBlock(layout, bitmap, { domainBytes: domain.length, bottomOfStack: true }).encode(values);
}
