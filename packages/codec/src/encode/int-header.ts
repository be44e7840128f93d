/** What encoders of INT share with the source role: headers of all versions, and the order of domain-specific bytes. */
import { concat } from '../copy.js';
import { intMd, intMon, intMx, intV05, intV10 } from '../headers/int.js';
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
