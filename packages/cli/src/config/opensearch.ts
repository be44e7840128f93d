import type { Sink } from '@int/collector';
import type { Topology } from '@int/network';
import type { OpenSearchSinkOptions } from '@int/sink-opensearch';
import { given, ifGiven } from '../given.js';
import { optionalPackage } from '../input/optional-package.js';
import { bytesOf, millisecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import { opened, reporting, retryOf, type Tell } from './sink-parts.js';
import { certificatesOf } from './tls.js';

type Credentials = Readonly<Record<'username' | 'password' | 'apiKey' | 'bearer', string | undefined>>;

function authOf({ username, password = '', apiKey, bearer }: Credentials): OpenSearchSinkOptions['auth'] {
  if (apiKey !== undefined) return { apiKey };
  if (bearer !== undefined) return { bearer };
  return username === undefined ? undefined : { username, password };
}

/** @param names of switches and ports */
export async function openSearchSink(
  read: ReadConfig,
  index: number,
  name: string,
  names: Topology,
  tell: Tell,
): Promise<Sink> {
  const path = ['sinks', index, 'opensearch'];
  const module = import('@int/sink-opensearch');
  const { OpenSearchSink } = await optionalPackage('@int/sink-opensearch', 'an opensearch sink', module);
  const { username, password, apiKey, bearer, tls, rotation, batch, memory, linger, requestTimeout, retry, ...same } =
    read.config.sinks![index]!.opensearch!;
  const certificates = await certificatesOf(read, tls, path);
  return opened(
    read,
    path,
    () =>
      new OpenSearchSink({
        ...same,
        name,
        names,
        device: read.device,
        ...reporting(name, tell),
        ...given({
          auth: authOf({ username, password, apiKey, bearer }),
          tls: certificates,
          rotate: rotation,
          batchBytes: ifGiven(batch, bytesOf),
          memoryBytes: ifGiven(memory, bytesOf),
          lingerMs: ifGiven(linger, millisecondsOf),
          requestTimeoutMs: ifGiven(requestTimeout, millisecondsOf),
          retry: ifGiven(retry, retryOf),
        }),
      }),
  );
}
