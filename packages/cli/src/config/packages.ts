import { optionalPackage } from '../input/optional-package.js';
import type { IntConfig } from './config.js';

/**
 * Checks that the packages which a configuration needs are installed.
 * @throws CliError (rejects) that names the first missing one
 */
export async function needPackages({ sources, sinks = [] }: IntConfig): Promise<void> {
  if ([...sources, ...sinks].some(({ kafka }) => kafka !== undefined)) {
    await optionalPackage('@int/sink-kafka', 'Kafka', import('@int/sink-kafka'));
  }
  if (sinks.some(({ parquet }) => parquet !== undefined)) {
    await optionalPackage('@int/sink-parquet', 'a parquet sink', import('@int/sink-parquet'));
  }
  if (sinks.some(({ opensearch }) => opensearch !== undefined)) {
    await optionalPackage('@int/sink-opensearch', 'an opensearch sink', import('@int/sink-opensearch'));
  }
  if (sinks.some(({ redis }) => redis !== undefined)) {
    await optionalPackage('@int/sink-redis', 'a redis sink', import('@int/sink-redis'));
  }
}
