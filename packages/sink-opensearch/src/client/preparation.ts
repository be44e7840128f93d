import { isDeepStrictEqual } from 'node:util';
import { OpenSearchSinkError } from '../errors.js';
import type { ResolvedOptions } from '../options.js';
import { indexTemplate } from '../templates.js';
import { quote } from './answer.js';
import type { HttpClient } from './http.js';

type PreparationOptions = Pick<ResolvedOptions, 'templates' | 'units' | 'records' | 'prefix' | 'rotate' | 'onProblem'>;

/** Installs the index templates, once, before the first record. */
export class Preparation {
  readonly #options: PreparationOptions;
  readonly #client: HttpClient;
  #isDone: boolean;
  #running: Promise<OpenSearchSinkError | null> | null = null;

  constructor(options: PreparationOptions, client: HttpClient) {
    this.#options = options;
    this.#client = client;
    this.#isDone = options.templates === false;
  }

  /** Never rejects. @returns why to try again; `null` when done, also if the server refuses */
  async run(signal: AbortSignal): Promise<OpenSearchSinkError | null> {
    if (this.#isDone) return null;
    this.#running ??= this.#run(signal).finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #run(signal: AbortSignal): Promise<OpenSearchSinkError | null> {
    for (const kind of this.#options.records) {
      const { prefix, rotate, templates, units } = this.#options;
      const path = `/_index_template/${prefix}${kind}`;
      const template = indexTemplate(kind, { prefix, rotate }, templates === false ? {} : templates, units);
      const problem =
        (await this.#isToStay(path, template.version, signal)) ??
        (await this.#put(path, JSON.stringify(template), signal));
      if (typeof problem === 'object' && problem !== null) return problem;
    }
    this.#isDone = true;
    return null;
  }

  /** True: what is there is to be left alone. `null`: there is none, or an older one, or one with other units. */
  async #isToStay(path: string, version: number, signal: AbortSignal): Promise<true | OpenSearchSinkError | null> {
    const template = 'index_templates.index_template';
    const query = `?filter_path=${template}.version,${template}.template.mappings._meta`;
    const answer = await this.#client.send({ method: 'GET', path: path + query }, signal);
    if ('problem' in answer) return answer.problem;
    if (isPassing(answer.status)) return toRetry(answer);
    if (answer.status !== 200) return null;
    const { units } = this.#options;
    const there = templateIn(answer.text);
    if (there.version !== version) return there.version > version ? true : null;
    return units === null || isDeepStrictEqual(there.units, units) ? true : null;
  }

  async #put(path: string, text: string, signal: AbortSignal): Promise<OpenSearchSinkError | null> {
    const headers = { 'content-type': 'application/json' };
    const answer = await this.#client.send({ method: 'PUT', path, body: Buffer.from(text), headers }, signal);
    if ('problem' in answer) return answer.problem;
    if (isPassing(answer.status)) return toRetry(answer);
    if (answer.status !== 200) {
      // Records without their mapping are better than none: numbers and addresses are found as text.
      this.#options.onProblem(new OpenSearchSinkError('ERR_OPENSEARCH_TEMPLATE', `${path}: ${quote(answer)}`));
    }
    return null;
  }
}

/** Whether trying again may help: what is wrong with credentials is found out with the records, too. */
function isPassing(status: number): boolean {
  return status === 401 || status === 429 || status >= 500;
}

function toRetry(answer: { readonly status: number; readonly text: string }): OpenSearchSinkError {
  const code = answer.status === 401 ? 'ERR_OPENSEARCH_AUTH' : 'ERR_OPENSEARCH_BUSY';
  return new OpenSearchSinkError(code, quote(answer));
}

/** Version and units of the template in an answer; version -1: there is none. */
function templateIn(text: string): { readonly version: number; readonly units: unknown } {
  try {
    const { index_templates: [first] = [] } = JSON.parse(text) as {
      index_templates?: readonly {
        readonly index_template?: {
          readonly version?: number;
          readonly template?: { readonly mappings?: { readonly _meta?: { readonly units?: unknown } } };
        };
      }[];
    };
    const { version = -1, template } = first?.index_template ?? {};
    return { version: Number(version), units: template?.mappings?._meta?.units };
  } catch {
    return { version: -1, units: undefined };
  }
}
