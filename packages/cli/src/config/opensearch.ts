import type { Sink } from '@int/collector';
import { optionalPackage } from '../input/optional-package.js';
import type { OpenSearchSinkConfig } from './config.js';
import { bytesOf, millisecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import { opened, reporting, retryOf, type Tell } from './sink-parts.js';
import { readCertificates } from './tls.js';

type Auth =
  | { readonly username: string; readonly password: string }
  | { readonly apiKey: string }
  | { readonly bearer: string };

function authOf({ username, password = '', apiKey, bearer }: OpenSearchSinkConfig): Auth | null {
  if (apiKey !== undefined) return { apiKey };
  if (bearer !== undefined) return { bearer };
  return username === undefined ? null : { username, password };
}

/** @throws CliError (rejects) */
export async function openSearchSink(read: ReadConfig, index: number, name: string, tell: Tell): Promise<Sink> {
  const config = read.config.sinks![index]!.opensearch!;
  const path = ['sinks', index, 'opensearch'];
  const module = import('@int/sink-opensearch');
  const { OpenSearchSink } = await optionalPackage('@int/sink-opensearch', 'an opensearch sink', module);
  const { nodes, records, prefix, rotation, gzip, whenFull, retry, batch, memory, linger, requestTimeout } = config;
  const tls = config.tls === undefined ? null : await readCertificates(read, config.tls, [...path, 'tls']);
  const auth = authOf(config);
  return opened(
    read,
    path,
    () =>
      new OpenSearchSink({
        name,
        nodes,
        ...reporting(name, tell),
        ...(auth !== null && { auth }),
        ...(tls !== null && { tls }),
        ...(records !== undefined && { records }),
        ...(prefix !== undefined && { prefix }),
        ...(rotation !== undefined && { rotate: rotation }),
        ...(gzip !== undefined && { gzip }),
        ...(batch !== undefined && { batchBytes: bytesOf(batch) }),
        ...(memory !== undefined && { memoryBytes: bytesOf(memory) }),
        ...(linger !== undefined && { lingerMs: millisecondsOf(linger) }),
        ...(requestTimeout !== undefined && { requestTimeoutMs: millisecondsOf(requestTimeout) }),
        ...(whenFull !== undefined && { whenFull }),
        ...(retry !== undefined && { retry: retryOf(retry) }),
      }),
  );
}
