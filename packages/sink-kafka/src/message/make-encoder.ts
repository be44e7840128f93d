import type { MessageEncoder, MessageFormat } from './encoder.js';
import { JsonEncoder } from './json-encoder.js';
import { ProtobufEncoder } from './protobuf-encoder.js';

export function makeEncoder(format: MessageFormat): MessageEncoder {
  return format === 'json' ? new JsonEncoder() : new ProtobufEncoder();
}
