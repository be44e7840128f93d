import { readRegular } from '../input/text-file.js';
import { CliError } from '../io.js';
import type { TlsConfig } from './config.js';
import type { ValuePath } from './document.js';
import type { ReadConfig } from './read-config.js';

const CERTIFICATE = { name: 'certificate or key', mostBytes: 1 << 20 } as const;

/** Certificates in the form of `node:tls`. */
export interface Certificates {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly servername?: string;
}

/**
 * Reads the files of certificates.
 * @param path path of `tls` in the configuration
 * @throws FileProblems (rejects)
 */
export async function readCertificates(read: ReadConfig, tls: TlsConfig, path: ValuePath): Promise<Certificates> {
  const fileOf = async (name: 'ca' | 'cert' | 'key'): Promise<{ readonly [K in typeof name]?: Buffer }> => {
    const file = tls[name];
    if (file === undefined) return {};
    try {
      return { [name]: await readRegular(read.path(file), CERTIFICATE) };
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      throw read.problem([...path, name], error.message, error);
    }
  };
  const { servername } = tls;
  return {
    ...(await fileOf('ca')),
    ...(await fileOf('cert')),
    ...(await fileOf('key')),
    ...(servername !== undefined && { servername }),
  };
}
