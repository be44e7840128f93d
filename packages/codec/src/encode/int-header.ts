/** What encoders of INT share with the source role: headers of all versions, and the order of domain-specific bytes. */
import { concat } from '../copy.js';
import { intMd, intMon, intMx, intV05, intV10 } from '../headers/int.js';
import { shimV2, shimV05, shimV10, vxlanGpeShimV1, vxlanGpeShimV2 } from '../headers/shim.js';
import type { IntHeaderInfo, IntVersion } from '../model.js';
import type { DomainItem, Domains } from '../options.js';

/** VXLAN-GPE next protocols by INT version, as they are written. */
export const GPE_PROTOCOL = { '0.5': 0x05, '1.0': 0x08, '2': 0x82 } as const;
/** Geneve option classes by INT version, as they are written. */
export const GENEVE_CLASS = { '0.5': 0x00ab, '1.0': 0x00ab, '2': 0x0103 } as const;

/** What an INT header says. Each version has a part of it. */
export interface IntHeader
  extends Pick<IntHeaderInfo, 'instructionBitmap' | 'discard' | 'hopExceeded' | 'mtuExceeded'>,
    Pick<IntHeaderInfo, 'domainId' | 'domainInstructions' | 'domainFlags'> {
  readonly version: Exclude<IntVersion, '2016'>;
  /** INT-MX, v2 only. */
  readonly mx: boolean;
  /** Words that a hop pushes. */
  readonly hopMl: number;
  /** Hops in the stack. */
  readonly hops: number;
  /** Hops that may still push. */
  readonly remainingHopCount: number;
  /** IntMon: bytes behind the header. */
  readonly stackBytes: number;
  /** IntMon: original UDP destination port. */
  readonly destinationPort: number;
}

/** An INT header, without what follows it. @throws RangeError for a value that does not fit */
export function encodeIntHeader(header: IntHeader): Uint8Array {
  const { version, hops, hopMl, instructionBitmap, remainingHopCount, hopExceeded, mtuExceeded } = header;
  const { discard, domainId, domainInstructions, domainFlags, stackBytes, destinationPort } = header;
  const old = { replication: 0, copy: false, hopExceeded, reserved: 0, reserved2: 0, instructionBitmap };
  const counts = { instructionCount: hopMl, maxHopCount: hops + remainingHopCount, totalHopCount: hops };
  const domain = { discard, reserved: 0, instructionBitmap, domainId, domainInstructions, domainFlags };
  switch (version) {
    case '0.5':
      return intV05.encode({ ...old, ...counts });
    case '1.0':
      return intV10.encode({ ...old, mtuExceeded, hopMl, remainingHopCount });
    case '2':
      if (header.mx) return intMx.encode(domain);
      return intMd.encode({ ...domain, hopExceeded, mtuExceeded, hopMl, remainingHopCount });
    case 'intmon': {
      const own = { version: 0, sentToController: false, intLength: 12 + stackBytes, destinationPort };
      return intMon.encode({ ...old, ...counts, ...own });
    }
  }
}

/**
 * The shim of INT between a UDP or TCP header and its payload.
 *
 * @param type INT header type, see `INT_TYPE`
 * @param words length of header and stack, in words
 * @param stored what the shim keeps for the sink: the original port (v2), or the original DSCP (v1.0, v2)
 */
export function encodeShim(
  version: '0.5' | '1.0' | '2',
  type: number,
  words: number,
  stored: { readonly destinationPort: number } | { readonly dscp: number },
): Uint8Array {
  const common = { type, reserved: 0 };
  const dscp = 'dscp' in stored ? stored.dscp : 0;
  // v0.5 counts the shim and the tail, v1.0 the shim.
  if (version === '0.5') return shimV05.encode({ ...common, length: words + 2, reserved2: 0 });
  if (version === '1.0') return shimV10.encode({ ...common, length: words + 1, dscp, reserved2: 0 });
  return 'dscp' in stored
    ? shimV2.encode({ ...common, length: words, npt: 0, reserved2: 0, dscp, reserved3: 0 })
    : shimV2.encode({ ...common, length: words, npt: 1, ...stored });
}

/** The shim of INT behind a VXLAN-GPE header. @param inserted whether the packet was plain VXLAN before (v2) */
export function encodeGpeShim(
  version: '0.5' | '1.0' | '2',
  type: number,
  words: number,
  nextProtocol: number,
  inserted: boolean,
): Uint8Array {
  return version === '2'
    ? vxlanGpeShimV2.encode({ type, reserved: 0, length: words, inserted, reserved2: 0, nextProtocol })
    : vxlanGpeShimV1.encode({ type, reserved: 0, length: words + 1, nextProtocol });
}

/** Items of the DS Instruction bits that are set, in bit order, as far as the domain defines them. */
export function domainItems(domain: Domains[number], instructions: number): DomainItem[] {
  const items: DomainItem[] = [];
  for (let bit = 0; bit < 16; bit++) {
    const item = domain[bit];
    if (item !== undefined && (instructions & (0x8000 >>> bit)) !== 0) items.push(item);
  }
  return items;
}

/**
 * The domain-specific bytes of a source's block: what each hop exports and what the source alone adds, item by item.
 */
export function joinDomain(items: readonly DomainItem[], exported: Uint8Array, sourceOnly: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = [];
  let fromExported = 0;
  let fromSource = 0;
  for (const { bytes, mode } of items) {
    if (mode === 'source-only') {
      pieces.push(sourceOnly.subarray(fromSource, fromSource + bytes));
      fromSource += bytes;
    } else {
      pieces.push(exported.subarray(fromExported, fromExported + bytes));
      fromExported += bytes;
    }
  }
  return concat(...pieces);
}
