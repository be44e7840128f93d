import { createSocket, type Socket, type SocketOptions } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

/** A UDP socket that is bound. @throws the system's error if it cannot be bound */
export async function boundSocket(
  address: string,
  port: number,
  options: Pick<SocketOptions, 'recvBufferSize'> = {},
): Promise<Socket> {
  const socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', ...options });
  socket.bind(port, address);
  try {
    await once(socket, 'listening');
    return socket;
  } catch (error) {
    socket.close();
    throw error;
  }
}

export async function closeSocket(socket: Socket): Promise<void> {
  const closed = once(socket, 'close');
  socket.close();
  await closed;
}
