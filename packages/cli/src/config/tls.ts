import { readRegular } from '../input/text-file.js';
import { CliError } from '../io.js';
import type { TlsConfig } from './config.js';
import type { ValuePath } from './document.js';
import type { ReadConfig } from './read-config.js';

const CERTIFICATE = { name: 'certificate or key', mostBytes: 1 << 20 } as const;

/** Certificates in the form of `node:tls`. */
export type Certificates = { readonly [K in keyof TlsConfig]: K extends 'servername' ? string : Buffer };

/**
 * Reads the files of certificates, if there are any.
 * @param path path of the part in the configuration that has `tls`
 * @throws FileProblems (rejects)
 */
export async function certificatesOf(
  read: ReadConfig,
  tls: TlsConfig | undefined,
  path: ValuePath,
): Promise<Certificates | undefined> {
  if (tls === undefined) return undefined;
  const { servername, ...files } = tls;
  const certificates: Record<string, Buffer> = {};
  for (const [name, file] of Object.entries(files)) {
    try {
      certificates[name] = await readRegular(read.path(file), CERTIFICATE);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      throw read.problem([...path, 'tls', name], error.message, error);
    }
  }
  return servername === undefined ? certificates : { ...certificates, servername };
}
