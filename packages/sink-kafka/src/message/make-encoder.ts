import type { Topology } from '@int/network';
import type { MessageEncoder, MessageFormat } from './encoder.js';
import { JsonEncoder } from './json-encoder.js';
import { ProtobufEncoder } from './protobuf-encoder.js';

/** @param names to put beside ids */
export function makeEncoder(format: MessageFormat, names?: Topology): MessageEncoder {
  return format === 'json' ? new JsonEncoder(names) : new ProtobufEncoder(names);
}
