import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Container } from 'dockerode';
import type { EngineAddress } from './address.ts';
import { createDemultiplexer, type Outputs } from './demultiplex.ts';
import { requestOptions } from './request-options.ts';
import { soon } from './soon.ts';

/** The pipes of a container that is about to start. */
export interface Attached {
  readonly stdin: Duplex;
  /** All that the container says was heard. */
  readonly ended: Promise<void>;
}

/** Connects to the pipes of a container before it starts, so that not a byte is lost. */
export async function attach({ id }: Container, address: EngineAddress, outputs: Outputs): Promise<Attached> {
  const stream = await soon(hijack(`/containers/${id}/attach?stream=1&stdin=1&stdout=1&stderr=1`, address));
  stream.on('data', createDemultiplexer(outputs));
  const ended = new Promise<void>((resolve) => {
    stream.once('end', resolve);
    stream.once('close', resolve);
    stream.on('error', () => resolve()); // who waits for the container hears the reason
  });
  return { stdin: stream, ended };
}

/**
 * By hand, and not with the library: that one sends a body, or at least the end of one, and Podman hands every byte behind the
 * headers to the container as the first of its stdin.
 */
function hijack(path: string, address: EngineAddress): Promise<Duplex> {
  const place = requestOptions(address);
  return new Promise((resolve, reject) => {
    const asked = (place.ca === undefined ? request : secureRequest)({
      ...place,
      path,
      method: 'POST',
      headers: { connection: 'Upgrade', upgrade: 'tcp', 'content-length': '0' },
    });
    asked.once('upgrade', (_answer, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asked.once('response', async (answer) => {
      let text = '';
      for await (const chunk of answer.setEncoding('utf8')) text = (text + chunk).slice(0, 2_000);
      reject(Object.assign(new Error(text.trim()), { statusCode: answer.statusCode, json: parsed(text) }));
    });
    asked.once('error', reject);
    asked.end();
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
