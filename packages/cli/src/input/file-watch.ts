import { stat } from 'node:fs/promises';

/** A signature of a file's content, obtained without reading it; '' if the file is missing. */
async function signatureOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return '';
  }
}

const POLL_MS = 200;

/**
 * Detects changes of a file on disk. It polls the file: this works on every file system, and for files that are
 * replaced instead of written.
 */
export class FileWatch {
  readonly #path: string;
  #onChange: () => void = () => {};
  #known: string;
  #last: string;
  #timer: NodeJS.Timeout | null = null;

  private constructor(path: string, signature: string) {
    this.#path = path;
    this.#known = signature;
    this.#last = signature;
  }

  /** Makes a watch with the file's present state. */
  static async of(path: string): Promise<FileWatch> {
    return new FileWatch(path, await signatureOf(path));
  }

  /** @param onChange called when the file differs from its first state, or from that at the last call */
  start(onChange: () => void): void {
    this.#onChange = onChange;
    this.#timer = setInterval(() => void this.#look(), POLL_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  async #look(): Promise<void> {
    const signature = await signatureOf(this.#path);
    const isSettled = signature === this.#last;
    this.#last = signature;
    // Wait until a file that is being written or replaced has settled.
    if (!isSettled || signature === '' || signature === this.#known || this.#timer === null) return;
    this.#known = signature;
    this.#onChange();
  }
}
