import { randomBytes } from 'node:crypto';
import { access, link, rename, unlink, writeFile } from 'node:fs/promises';
import { CliError, EXIT, openFailure } from '../io.js';

/** A file that has its name only when it is complete, and that takes nobody's place unless it may. */
export class NewFile {
  readonly #path: string;
  readonly #mayReplace: boolean;

  private constructor(path: string, mayReplace: boolean) {
    this.#path = path;
    this.#mayReplace = mayReplace;
  }

  /** @throws CliError (rejects) if the file exists and may not be replaced */
  static async prepare(path: string, mayReplace: boolean): Promise<NewFile> {
    const file = new NewFile(path, mayReplace);
    if (
      !mayReplace &&
      (await access(path).then(
        () => true,
        () => false,
      ))
    )
      throw file.#exists();
    return file;
  }

  /** @throws CliError (rejects) if it cannot be written, or exists by now and may not be replaced */
  async write(text: string): Promise<void> {
    const draft = `${this.#path}.${randomBytes(4).toString('hex')}.part`;
    try {
      await writeFile(draft, text, { flag: 'wx' });
      if (this.#mayReplace) await rename(draft, this.#path);
      // A link fails if there is a file by now; a rename would replace it.
      else await link(draft, this.#path).catch((error: NodeJS.ErrnoException) => this.#withoutLinks(text, error));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw this.#exists(error);
      throw new CliError(`cannot write ${this.#path}: ${openFailure(error)}`, EXIT.OPEN, error);
    } finally {
      await unlink(draft).catch(() => {});
    }
  }

  /** Some file systems have no links. */
  async #withoutLinks(text: string, error: NodeJS.ErrnoException): Promise<void> {
    if (error.code === 'EEXIST') throw error;
    await writeFile(this.#path, text, { flag: 'wx' });
  }

  #exists(cause?: unknown): CliError {
    return new CliError(`${this.#path} exists; --force replaces it`, EXIT.OPEN, cause);
  }
}
