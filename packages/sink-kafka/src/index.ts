export { RecordIds } from '@int/collector';
export type { NewTopic } from './client/brokers.js';
export { ConnectionLogin } from './client/login.js';
export type { ProducerTotals } from './client/producer.js';
export { COMPRESSIONS, type Compression } from './client/record-batch.js';
export { DROP_REASONS, type DropReason } from './counts.js';
export { KafkaSinkError, type KafkaSinkErrorCode } from './errors.js';
export { MESSAGE_CODE, MessageDecoder } from './message/decoder.js';
export {
  MESSAGE_FORMATS,
  MESSAGE_HEADERS,
  MESSAGE_TYPES,
  type MessageEncoder,
  type MessageFormat,
} from './message/encoder.js';
export type { HopFields, ReportFields } from './message/fields.js';
export { JsonDecoder } from './message/json-decoder.js';
export { JsonEncoder } from './message/json-encoder.js';
export { makeEncoder } from './message/make-encoder.js';
export { ProtobufDecoder } from './message/protobuf-decoder.js';
export { ProtobufEncoder } from './message/protobuf-encoder.js';
export { MessageReader } from './message/reader.js';
export { MessageSlab, type MessageSlabCapacity, MIN_SLAB_BYTES } from './message/slab.js';
export { decodeWatermark, encodeWatermark, messageKind, WATERMARK_TYPE, type Watermark } from './message/watermark.js';
export type { Durability, KafkaLogin, KafkaSinkOptions, KafkaTopics, SpoolOptions } from './options.js';
export { KafkaSink, type KafkaSinkState } from './sink.js';
export type { KafkaSourceOptions } from './source/options.js';
export { KafkaSource, type KafkaSourceTotals } from './source/source.js';
export { SPOOL_SYNCS, type SpoolSync } from './spool/spool.js';
