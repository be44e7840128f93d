import { formatUdpAddress } from '@int/collector';
import { parseUdpAddress } from '@int/collector/internals';
import { describe, expect, test } from 'vitest';

describe('udp:// addresses', () => {
  test.each([
    ['udp://127.0.0.1:9000', { host: '127.0.0.1', port: 9000 }],
    ['udp://[::1]:9000', { host: '::1', port: 9000 }],
    ['udp://[fe80::1%eth0]:1', { host: 'fe80::1%eth0', port: 1 }],
    ['udp://collector.example:0', { host: 'collector.example', port: 0 }],
  ])('%s is read and written', (text, address) => {
    expect(parseUdpAddress(text)).toEqual(address);
    expect(formatUdpAddress(address)).toBe(text);
  });

  test('have a port of their own if none is given', () => {
    expect(parseUdpAddress('udp://0.0.0.0')).toEqual({ host: '0.0.0.0', port: 32766 });
    expect(parseUdpAddress('udp://[::]/')).toEqual({ host: '::', port: 32766 });
  });

  test.each([
    '',
    '127.0.0.1:9000',
    'tcp://127.0.0.1:1',
    'udp://:9000',
    'udp://::1:9000',
    'udp://[1.2.3.4]:1',
    'udp://a:65536',
    'udp://a:1:2',
    'udp://a:b',
  ])('"%s" is refused', (text) => {
    expect(() => parseUdpAddress(text)).toThrow(TypeError);
  });

  test('with a port out of range are refused for that', () => {
    expect(() => parseUdpAddress('udp://0.0.0.0:80000')).toThrow('a port is a number from 0 to 65535, not 80000');
  });
});
