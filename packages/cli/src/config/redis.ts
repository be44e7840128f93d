/** Redis as a sink, from int.yaml: flow entries, and events of the flow cache. */
import type { CacheGeometry } from '@int/flowcache';
import type { RedisSink } from '@int/sink-redis';
import { optionalPackage } from '../input/optional-package.js';
import { millisecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import { made, reporting, retryOf, type Tell } from './sink-parts.js';

/** @throws CliError (rejects) */
export async function redisSink(
  read: ReadConfig,
  index: number,
  name: string,
  geometry: CacheGeometry,
  tell: Tell,
): Promise<RedisSink> {
  const config = read.config.sinks![index]!.redis!;
  const { RedisSink } = await optionalPackage('@int/sink-redis', 'a redis sink', import('@int/sink-redis'));
  const { records, url, username, password, database, prefix, writer, keep, maxFlows, whenFull, retry } = config;
  const redis = made(
    read,
    ['sinks', index, 'redis'],
    () =>
      new RedisSink({
        name,
        geometry,
        ...reporting(name, tell),
        ...(records !== undefined && { records }),
        ...(url !== undefined && { url }),
        ...(username !== undefined && { username }),
        ...(password !== undefined && { password }),
        ...(database !== undefined && { database }),
        ...(prefix !== undefined && { prefix }),
        ...(writer !== undefined && { writer }),
        ...(whenFull !== undefined && { whenFull }),
        ...(retry !== undefined && { retry: retryOf(retry) }),
        entries: {
          ...(keep !== undefined && { keepMs: millisecondsOf(keep) }),
          ...(maxFlows !== undefined && { maxFlows }),
        },
      }),
  );
  // The sink retries by itself and takes records meanwhile.
  void redis.open();
  return redis;
}
