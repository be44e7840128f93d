/** A piece of a side's state. The latest values of all keys make up the whole state. `null` deletes a key. */
export interface StateChange {
  /** 1 to 64 bytes. The receiver may keep it. */
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}
