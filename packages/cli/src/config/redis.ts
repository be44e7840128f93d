/** Redis as a sink, from int.yaml: flow entries, events of the flow cache and of detectors. */
import type { CacheGeometry } from '@int/flowcache';
import type { Topology } from '@int/network';
import type { RedisSink } from '@int/sink-redis';
import { given, ifGiven } from '../given.js';
import { optionalPackage } from '../input/optional-package.js';
import { millisecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import { made, reporting, retryOf, type Tell } from './sink-parts.js';

export async function redisSink(
  read: ReadConfig,
  index: number,
  name: string,
  geometry: CacheGeometry,
  names: Topology,
  tell: Tell,
): Promise<RedisSink> {
  const { RedisSink } = await optionalPackage('@int/sink-redis', 'a redis sink', import('@int/sink-redis'));
  const { keep, maxFlows, retry, ...same } = read.config.sinks![index]!.redis!;
  const entries = given({ keepMs: ifGiven(keep, millisecondsOf), maxFlows });
  const options = {
    ...same,
    name,
    geometry,
    names,
    device: read.device,
    ...reporting(name, tell),
    entries,
    ...given({ retry: ifGiven(retry, retryOf) }),
  };
  const redis = made(read, ['sinks', index, 'redis'], () => new RedisSink(options));
  // The sink retries by itself and takes records meanwhile.
  void redis.open();
  return redis;
}
