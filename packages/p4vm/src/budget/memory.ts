/** Bytes that a running program may still keep: entries of tables, packets within the switch, and so on. */
export class Memory {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get left(): number {
    return this.#left;
  }

  /** Takes bytes. Returns false, and takes nothing, if fewer bytes are left. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#left += bytes;
  }
}
