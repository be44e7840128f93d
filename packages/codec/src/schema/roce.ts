/** Schemas of RoCEv2 headers. The iCRC is a computation over the packet, not a description of it: see `icrc`. */
import type { Aeth, AtomicEth, Bth, ImmDt, Reth } from '../headers/index.js';
import { FLAG, type HeaderSchema, Parser, schema } from './schema.js';

export const bthSchema: HeaderSchema<Bth> = /* @__PURE__ */ schema('roce', () =>
  new Parser()
    .uint8('opcode')
    .bit1('solicitedEvent', FLAG)
    .bit1('migrated', FLAG)
    .bit2('padCount')
    .bit4('transportVersion')
    .uint16('partitionKey')
    .bit1('fecn', FLAG)
    .bit1('becn', FLAG)
    .bit6('reserved')
    .bit24('destinationQp')
    .bit1('acknowledgeRequest', FLAG)
    .bit7('reserved2')
    .bit24('psn'),
);

export const rethSchema: HeaderSchema<Reth> = /* @__PURE__ */ schema('roce', () =>
  new Parser().uint64('virtualAddress').uint32('remoteKey').uint32('dmaLength'),
);

export const atomicEthSchema: HeaderSchema<AtomicEth> = /* @__PURE__ */ schema('roce', () =>
  new Parser().uint64('virtualAddress').uint32('remoteKey').uint64('swapOrAdd').uint64('compare'),
);

export const aethSchema: HeaderSchema<Aeth> = /* @__PURE__ */ schema('roce', () =>
  new Parser().bit8('syndrome').bit24('msn'),
);

export const immDtSchema: HeaderSchema<ImmDt> = /* @__PURE__ */ schema('roce', () => new Parser().uint32('value'));
