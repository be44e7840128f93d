// @ts-check
import { join } from 'node:path';

/** The runner takes ports from one above its base on, and none above 9299. */
const FIRST_PORT = 9201;
const PORTS = 98;

/** A port from which on to look for a free one. */
export function anyPort() {
  return FIRST_PORT + Math.floor(Math.random() * (PORTS - 10));
}

/**
 * @param {string} output
 * @returns {number | undefined} the port that the server has said to have
 */
export function portIn(output) {
  const said = /HTTP Port:\s+(\d+)/.exec(output)?.[1];
  return said === undefined ? undefined : Number(said);
}

/** What the server prints once it has started; its port comes before. */
export const STARTED = 'o.o.n.Node               ] started';

/**
 * @param {string} jars their folder
 * @param {string} folder of the data and the configuration
 * @param {number} port that is free, or from which on the runner looks for one
 * @param {readonly string[]} jvm more options of Java
 * @returns {string[]} arguments of Java that start one node without its plugins
 */
export function commandOf(jars, folder, port, jvm) {
  return [
    // Small and soon there, rather than fast for long.
    ...['-Xms256m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', ...jvm],
    ...['-cp', join(jars, '*'), 'org.codelibs.opensearch.runner.OpenSearchRunner'],
    ...['-basePath', folder, '-clusterName', 'int-test', '-numOfNode', '1', '-printOnFailure'],
    ...['-moduleTypes', 'org.opensearch.transport.Netty4Plugin', '-baseHttpPort', String(port - 1)],
  ];
}
