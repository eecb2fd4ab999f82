import { request } from 'node:http';

/** Milliseconds without a sign of life. */
const ANSWER_WITHIN = 3_000;
const LARGEST_ANSWER = 4 * 1024 * 1024;

/** Sends one request over a socket file and gives the text of the answer. Rejects when none comes in time, or one without end. */
export function askSocket(
  socketPath: string,
  method: 'GET' | 'POST',
  path: string,
  timeout = ANSWER_WITHIN,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, method, path, timeout }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length > LARGEST_ANSWER) outgoing.destroy(new Error('the answer is too long'));
      });
      response.once('end', () => resolve(text)).once('error', reject);
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error('no answer in time'))).once('error', reject);
    outgoing.end();
  });
}
