import { lockFolder as lock } from '@int/collector/internals';
import { KafkaSinkError } from '../errors.js';

/**
 * Locks a folder for this process. The lock of a process that has ended is taken over.
 * @returns a function that releases the folder
 * @throws KafkaSinkError ERR_KAFKA_SPOOL_IN_USE, or the system's errors
 */
export const lockFolder = (directory: string): (() => void) =>
  lock(directory, (who, folder) => new KafkaSinkError('ERR_KAFKA_SPOOL_IN_USE', `${who} uses ${folder}`));
