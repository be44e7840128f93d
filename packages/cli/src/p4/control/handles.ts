/**
 * Numbers of things that P4Runtime identifies by their contents, as simple_switch_CLI counts them: from 0, in the order in
 * which they were made or first seen.
 */
export class Handles<T> {
  readonly #byKey = new Map<string, number>();
  readonly #items = new Map<number, T>();
  #next = 0;

  /** The number of a thing; a new one if it was not seen before. */
  of(key: string, item: T): number {
    let handle = this.#byKey.get(key);
    if (handle === undefined) {
      handle = this.#next++;
      this.#byKey.set(key, handle);
    }
    this.#items.set(handle, item);
    return handle;
  }

  get(handle: number): T | undefined {
    return this.#items.get(handle);
  }

  delete(key: string): void {
    const handle = this.#byKey.get(key);
    if (handle === undefined) return;
    this.#byKey.delete(key);
    this.#items.delete(handle);
  }

  clear(): void {
    this.#byKey.clear();
    this.#items.clear();
  }
}
