import { createHash, randomBytes } from 'node:crypto';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import type { AppliedAnswer, RulesAnswer } from '../protocol/http.js';
import { ApiError } from '../server/api-error.js';
import { MOST_CHARACTERS } from './check.js';

/** Texts that were in force before, the newest first. */
const MOST_VERSIONS = 50;
const MOST_VERSION_CHARACTERS = 1 << 19;

/** The rules of a program, as it runs them. */
export interface RulesProgram {
  /** The file that they came from; `null`: they came from none, and cannot be saved. */
  readonly file: string | null;
  /** What each rule has decided. */
  counters(): ReadonlyMap<string, { readonly reports: number; readonly events: number }>;
  /**
   * Puts rules into force, between two batches, as when their file has changed: no report and no state is lost.
   * @throws Error (rejects) for rules that cannot be used, with nothing changed
   */
  apply(yaml: string): Promise<void> | void;
}

interface Version {
  readonly revision: string;
  readonly yaml: string;
  readonly appliedMs: number;
  readonly by: string;
}

/** What is asked of {@link RunningRules.apply}. */
interface RulesChange {
  readonly yaml: string;
  /** Of the rules that were looked at. */
  readonly revision: string;
  readonly save: boolean;
}

/**
 * The text of the rules in force, those before, and how they are replaced: what a {@link Dashboard} asks its program about rules.
 *
 * @example
 * const rules = new RunningRules({ file, counters, apply }, text);
 * const dashboard = await Dashboard.open({ answers: rules.answers });
 */
export class RunningRules {
  readonly #program: RulesProgram;
  #versions: Version[];
  #applying: Promise<unknown> = Promise.resolve();

  /** @param yaml the text of the rules in force */
  constructor(program: RulesProgram, yaml: string) {
    this.#program = program;
    this.#versions = [versionOf(yaml, 'start')];
  }

  get yaml(): string {
    return this.#versions[0]!.yaml;
  }

  get revision(): string {
    return this.#versions[0]!.revision;
  }

  /** For `DashboardOptions.answers`. */
  get answers(): Readonly<Record<string, (data: unknown) => unknown>> {
    return {
      rules: () => this.#answer(),
      'rules.apply': (change) => this.apply(change as RulesChange),
    };
  }

  /** Notes what has come into force in another way, such as by a change of the file. */
  note(yaml: string, by: string): void {
    if (yaml === this.yaml) return;
    this.#versions.unshift(versionOf(yaml, by));
    let characters = 0;
    const kept = this.#versions.slice(0, MOST_VERSIONS).findIndex(({ yaml: text }) => {
      characters += text.length;
      return characters > MOST_VERSION_CHARACTERS;
    });
    this.#versions.length = Math.min(
      this.#versions.length,
      MOST_VERSIONS,
      kept < 0 ? MOST_VERSIONS : Math.max(1, kept),
    );
  }

  #answer(): Omit<RulesAnswer, 'words'> {
    const counters = this.#program.counters();
    const lines = linesOf(this.yaml, [...counters.keys()]);
    return {
      yaml: this.yaml,
      file: this.#program.file,
      revision: this.revision,
      rules: [...counters].map(([name, { reports, events }]) => ({
        name,
        line: lines.get(name) ?? 1,
        matched: reports,
        events,
      })),
      versions: this.#versions,
    };
  }

  /**
   * Puts rules into force, one change after another.
   * @throws ApiError (rejects) `ERR_CONFLICT` if others are in force than those that were looked at; what the program throws
   */
  apply(change: RulesChange): Promise<AppliedAnswer> {
    const applied = this.#applying.then(() => this.#apply(change));
    this.#applying = applied.catch(() => {});
    return applied;
  }

  async #apply({ yaml, revision, save }: RulesChange): Promise<AppliedAnswer> {
    if (revision !== this.revision) {
      throw new ApiError(
        409,
        'ERR_CONFLICT',
        'others have changed the rules meanwhile: load them, and change them again',
      );
    }
    if (yaml.length > MOST_CHARACTERS) {
      throw new ApiError(413, 'ERR_BODY_TOO_LARGE', `rules may have ${MOST_CHARACTERS} characters here`);
    }
    const { file } = this.#program;
    if (save && file === null)
      throw new ApiError(400, 'ERR_RULES', 'these rules came from no file: they cannot be saved');
    await this.#program.apply(yaml);
    this.note(yaml, 'dashboard');
    if (save) await replaceFile(file!, yaml);
    return { revision: this.revision, saved: save };
  }
}

function versionOf(yaml: string, by: string): Version {
  const revision = createHash('sha256').update(yaml).digest('hex').slice(0, 16);
  return { revision, yaml, appliedMs: Date.now(), by };
}

/** The line of each rule in a text, where it is written as a block: `- name: x` or `name: x`. */
function linesOf(yaml: string, names: readonly string[]): Map<string, number> {
  const lines = yaml.split(/\r?\n/);
  const found = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    const [, , text] = /^\s*(?:-\s+)?(?:\{\s*)?name:\s*(['"]?)([^'"#,}]+?)\1\s*(?:[#,}].*)?$/.exec(line) ?? [];
    if (text !== undefined && names.includes(text) && !found.has(text)) found.set(text, index + 1);
  }
  return found;
}

/** Replaces a file whole, or leaves it as it was. @throws ApiError (rejects) if that is not possible */
async function replaceFile(path: string, text: string): Promise<void> {
  let unfinished: string | null = null;
  try {
    // What a link points to is replaced, with its rights.
    const target = await realpath(path);
    const { mode } = await stat(target);
    unfinished = `${target}.${randomBytes(6).toString('hex')}.part`;
    const file = await open(unfinished, 'wx', mode & 0o777);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, target);
  } catch (error) {
    if (unfinished !== null) await rm(unfinished, { force: true }).catch(() => {});
    throw new ApiError(500, 'ERR_RULES', `the rules are in force, but could not be saved: ${(error as Error).message}`);
  }
}
