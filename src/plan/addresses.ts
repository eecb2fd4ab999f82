/** Where a URL of a manifest may lead. Who names this machine means it; another private address has to be allowed. */
export function addressesFor(url: string, allowPrivate: boolean): 'public' | 'private' {
  const host = URL.parse(url)?.hostname ?? '';
  const isThisMachine = host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
  return allowPrivate || isThisMachine ? 'private' : 'public';
}
