/**
 * The names of types in each scope. Parsing needs them: `(T) -x` is a cast, `(v) -x` a difference. A value hides a type
 * of the same name. Source: P4_16 specification, "P4 grammar", TYPE_IDENTIFIER.
 */
export class NameScopes {
  readonly #scopes: Map<string, boolean>[] = [new Map()];

  /** How many scopes are open; for `restore`. */
  get level(): number {
    return this.#scopes.length;
  }

  push(): void {
    this.#scopes.push(new Map());
  }

  pop(): void {
    if (this.#scopes.length > 1) this.#scopes.pop();
  }

  /** Closes scopes that an error left open. */
  restore(level: number): void {
    if (this.#scopes.length > level) this.#scopes.length = level;
  }

  declareType(name: string): void {
    this.#scopes.at(-1)?.set(name, true);
  }

  declareValue(name: string): void {
    this.#scopes.at(-1)?.set(name, false);
  }

  isType(name: string): boolean {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const found = this.#scopes[i]?.get(name);
      if (found !== undefined) return found;
    }
    return false;
  }

  /** Whether `.name` is a type of the program's outermost scope. */
  isGlobalType(name: string): boolean {
    return this.#scopes[0]?.get(name) === true;
  }
}
