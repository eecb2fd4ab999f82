const HEADER = 8;
const STDERR = 2;

/** Hears the two outputs of a container, byte for byte. */
export interface Outputs {
  readonly stdout: (chunk: Buffer) => void;
  readonly stderr: (chunk: Buffer) => void;
}

/**
 * Takes apart what an engine sends on one connection: the number of an output (1 byte), three zeros, a length (4 bytes), then so
 * many bytes. A long piece is handed on as it comes; nothing is gathered.
 */
export function createDemultiplexer({ stdout, stderr }: Outputs): (chunk: Buffer) => void {
  let header = Buffer.alloc(0);
  let left = 0;
  let hear = stdout;

  return function take(chunk) {
    let rest = chunk;
    while (rest.length > 0) {
      if (left > 0) {
        const piece = rest.subarray(0, left);
        left -= piece.length;
        rest = rest.subarray(piece.length);
        hear(piece);
        continue;
      }
      const more = rest.subarray(0, HEADER - header.length);
      header = Buffer.concat([header, more]);
      rest = rest.subarray(more.length);
      if (header.length < HEADER) return;
      hear = header[0] === STDERR ? stderr : stdout;
      left = header.readUInt32BE(4);
      header = Buffer.alloc(0);
    }
  };
}
