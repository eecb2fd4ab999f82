/** Where isolated programs find our proxy, unless the server itself listens there. */
const PROXY_PORTS = [3128, 3129] as const;

export function proxyPortBeside(taken: number | undefined): number {
  return PROXY_PORTS[0] === taken ? PROXY_PORTS[1] : PROXY_PORTS[0];
}

/** Under these names programs look for their proxy. */
export function proxyVariables(port: number): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`;
  const none = 'localhost,127.0.0.1,::1';
  return {
    ...{ HTTP_PROXY: proxy, HTTPS_PROXY: proxy, http_proxy: proxy, https_proxy: proxy, NO_PROXY: none, no_proxy: none },
    NODE_USE_ENV_PROXY: '1',
  };
}
