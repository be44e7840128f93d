const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/sink-kafka.KafkaSinkError') as never;

/** Codes of {@link KafkaSinkError}; appended to, never renamed. */
export type KafkaSinkErrorCode =
  /** No connection to any broker, or it broke: refused, reset, closed, unknown host. */
  | 'ERR_KAFKA_CONNECTION'
  /** A broker did not answer in time. */
  | 'ERR_KAFKA_TIMEOUT'
  /** Name, password or mechanism of SASL were not accepted. */
  | 'ERR_KAFKA_AUTH'
  /** The user may not do what is needed: write to a topic, create it. */
  | 'ERR_KAFKA_DENIED'
  /** A topic does not exist and was not created: the brokers refuse, or `createTopics` forbids it. */
  | 'ERR_KAFKA_TOPIC'
  /** A partition has no leader at the moment, or too few replicas in sync. */
  | 'ERR_KAFKA_UNAVAILABLE'
  /** The brokers refuse records because of their content or size. These count as dropped. */
  | 'ERR_KAFKA_REFUSED'
  /** The brokers no longer know this producer. It begins anew; records may be written twice, with the same id. */
  | 'ERR_KAFKA_PRODUCER'
  /** The spool has reached its limit. */
  | 'ERR_KAFKA_SPOOL_FULL'
  /** The spool's disk is full or cannot be written or read. */
  | 'ERR_KAFKA_DISK'
  /** The spool has damaged bytes, which were cut or skipped. */
  | 'ERR_KAFKA_SPOOL_DAMAGED'
  /** Another sink uses the spool's folder. */
  | 'ERR_KAFKA_SPOOL_IN_USE'
  /** An answer that none of the above explains. */
  | 'ERR_KAFKA_UNEXPECTED';

/** A failure between a sink, its brokers and its spool. The original error is `cause`. */
export class KafkaSinkError extends Error {
  override readonly name = 'KafkaSinkError';
  readonly code: KafkaSinkErrorCode;

  constructor(code: KafkaSinkErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is KafkaSinkError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
