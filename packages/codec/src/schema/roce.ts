/** Schemas of RoCEv2 headers. `icrc` computes the iCRC; a schema cannot. */
import type * as header from '../headers/index.js';
import { FLAG, type HeaderSchema, Parser, schema } from './schema.js';

export const bthSchema: HeaderSchema<header.Bth> = /* @__PURE__ */ schema('roce', () =>
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

export const rethSchema: HeaderSchema<header.Reth> = /* @__PURE__ */ schema('roce', () =>
  new Parser().uint64('virtualAddress').uint32('remoteKey').uint32('dmaLength'),
);

export const atomicEthSchema: HeaderSchema<header.AtomicEth> = /* @__PURE__ */ schema('roce', () =>
  new Parser().uint64('virtualAddress').uint32('remoteKey').uint64('swapOrAdd').uint64('compare'),
);

export const aethSchema: HeaderSchema<header.Aeth> = /* @__PURE__ */ schema('roce', () =>
  new Parser().bit8('syndrome').bit24('msn'),
);

export const immDtSchema: HeaderSchema<header.ImmDt> = /* @__PURE__ */ schema('roce', () =>
  new Parser().uint32('value'),
);
