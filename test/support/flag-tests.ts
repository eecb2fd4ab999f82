/** Where the effect of each flag of `sally run` is tested: the file below test/integration or test/engines, and the name of the test. */
export const FLAG_TESTS: Readonly<Record<string, readonly [file: string, test: string]>> = {
  '--name': ['run-flags', 'labels and groups choose what is listed'],
  '--foreground': ['lifecycle', 'in the foreground is a workload like the others, until it ends'],
  '--from-config': ['workload-config', 'lead from a workload to the same workload'],
  '--wait': ['lifecycle', 'need not be waited for, and then says how it went when it is asked'],
  '--format': ['builds', 'come from a folder of Go, with nothing but the program in them'],

  '--group': ['run-flags', 'labels and groups choose what is listed'],
  '--env': [
    'run-flags',
    'come from files, a folder, flags and the store, the later wins, and secrets stand in no file',
  ],
  '--env-file': ['run-flags', 'a file of variables that is not there, or is wrong, is refused'],
  '--env-file-dir': [
    'run-flags',
    'come from files, a folder, flags and the store, the later wins, and secrets stand in no file',
  ],
  '--secret': [
    'run-flags',
    'come from files, a folder, flags and the store, the later wins, and secrets stand in no file',
  ],
  '--label': ['run-flags', 'labels and groups choose what is listed'],
  '--tools': [
    'run-flags',
    'offer the named tools only, under their new names, and the rest looks as if it were not there',
  ],
  '--tools-override': [
    'run-flags',
    'offer the named tools only, under their new names, and the rest looks as if it were not there',
  ],

  '--transport': ['run-flags', '--transport, --target-port, --target-host and --proxy-port say who listens where'],
  '--proxy-mode': [
    'run-flags',
    '--proxy-mode sse shows the address of the old transport, and --endpoint-prefix goes in front of what it announces',
  ],
  '--session-mode': ['run-flags', '--session-mode gives all clients one process, or each one of its own'],
  '--proxy-port': ['run-flags', '--transport, --target-port, --target-host and --proxy-port say who listens where'],
  '--host': ['run-flags', '--host listens there, and an address that others reach needs authentication'],
  '--allowed-host': [
    'run-flags',
    '--allowed-host and --allowed-origin let a name and a page in that are refused without',
  ],
  '--allowed-origin': [
    'run-flags',
    '--allowed-host and --allowed-origin let a name and a page in that are refused without',
  ],
  '--insecure-allow-anonymous': ['run-flags', '--insecure-allow-anonymous serves on an address that others reach'],
  '--trust-proxy-headers': [
    'run-flags',
    '--trust-proxy-headers believes a proxy about the prefix, and nobody is believed without it',
  ],
  '--thv-ca-bundle': [
    'run-flags',
    '--thv-ca-bundle makes a server at a URL trusted whose certificate nobody else signed',
  ],
  '--ca-bundle': ['incoming-flags', '%s: reaches discovery, keys and introspection'],
  '--target-host': ['run-flags', '--transport, --target-port, --target-host and --proxy-port say who listens where'],
  '--target-port': ['run-flags', '--transport, --target-port, --target-host and --proxy-port say who listens where'],
  '--endpoint-prefix': [
    'run-flags',
    '--proxy-mode sse shows the address of the old transport, and --endpoint-prefix goes in front of what it announces',
  ],
  '--stateless': ['run-flags', '--stateless takes POST only, and asks the server nothing else'],

  '--oidc-issuer': ['incoming-flags', '--oidc-issuer, --oidc-audience: asks for tokens, and says where they come from'],
  '--oidc-audience': [
    'incoming-flags',
    '--oidc-issuer, --oidc-audience: asks for tokens, and says where they come from',
  ],
  '--oidc-client-id': [
    'incoming-flags',
    '--oidc-client-id, --oidc-client-secret: opaque tokens are asked about where the issuer says',
  ],
  '--oidc-client-secret': [
    'incoming-flags',
    '--oidc-client-id, --oidc-client-secret: opaque tokens are asked about where the issuer says',
  ],
  '--oidc-client-secret-file': [
    'run-flags',
    '--oidc-issuer asks callers for tokens in the background too, and its secret stays out of the state',
  ],
  '--oidc-introspection-url': ['incoming-flags', '--oidc-introspection-url: opaque tokens are asked about there'],
  '--oidc-jwks-url': ['incoming-flags', '--oidc-jwks-url: keys are read there, and nothing is discovered'],
  '--oidc-scopes': ['incoming-flags', '--oidc-scopes: are told to clients, all but the one for refresh tokens'],
  '--oidc-required-scopes': ['incoming-flags', '--oidc-required-scopes: a token without them is not enough'],
  '--oidc-insecure-allow-http': [
    'incoming-flags',
    '--oidc-insecure-allow-http: an issuer without encryption must be insisted on',
  ],
  '--jwks-allow-private-ip': [
    'incoming-flags',
    '--jwks-allow-private-ip: without it the issuer on this machine is out of reach',
  ],
  '--jwks-auth-token-file': ['incoming-flags', '--jwks-auth-token-file: its token opens the documents of the issuer'],
  '--resource-url': ['incoming-flags', '--resource-url: is told to clients, and its host is a name of ours'],

  '--remote-forward-headers': [
    'remote-flags',
    '--remote-forward-headers and --remote-forward-headers-secret reach it with every request, and their values stand nowhere',
  ],
  '--remote-forward-headers-secret': [
    'remote-flags',
    '--remote-forward-headers and --remote-forward-headers-secret reach it with every request, and their values stand nowhere',
  ],
  '--remote-auth-bearer-token': [
    'remote-flags',
    '--remote-auth-bearer-token is shown to it, survives a stop and a start, and goes with the workload',
  ],
  '--remote-auth-bearer-token-file': ['remote-flags', '--remote-auth-bearer-token-file is read at each start'],

  '--token-exchange-url': [
    'token-exchange-flags',
    '--token-exchange-url: a token made for it, another one for each user, and never that of the caller',
  ],
  '--token-exchange-audience': [
    'token-exchange-flags',
    '--token-exchange-audience, --token-exchange-scopes: one that is asked for with them',
  ],
  '--token-exchange-scopes': [
    'token-exchange-flags',
    '--token-exchange-audience, --token-exchange-scopes: one that is asked for with them',
  ],
  '--token-exchange-header-name': [
    'token-exchange-flags',
    '--token-exchange-header-name: it in this header, and nothing in Authorization',
  ],
  '--token-exchange-subject-token-type': [
    'token-exchange-flags',
    '--token-exchange-subject-token-type: one for what the token of the caller is said to be',
  ],
  '--token-exchange-client-id': [
    'token-exchange-flags',
    '--token-exchange-client-id: one that a client without a secret asks for by its name',
  ],
  '--token-exchange-client-secret': [
    'token-exchange-flags',
    'a secret on the command line cannot be kept, and is refused',
  ],
  '--token-exchange-client-secret-file': [
    'token-exchange-flags',
    'it lasts over stop and start, update, export and import, and the secret is written nowhere',
  ],

  '--runtime': ['containers', 'fail with a reason'],
  '--memory': ['containers', 'get no rights that they do not need'],
  '--pids-limit': ['containers', 'get no rights that they do not need'],
  '--read-only-root': ['containers', 'may write to their own files when they cannot do without, and only then'],
  '--volume': ['containers', 'see mounts without what ignore files hide'],
  '--publish': ['container-flags', '-p opens one more port of the container, on this machine only'],
  '--network': ['container-flags', '--network puts the container into a network of the engine'],
  '--isolate-network': ['containers', 'reach this machine from isolation only when the gateway is opened'],
  '--allow-docker-gateway': ['containers', 'reach this machine from isolation only when the gateway is opened'],
  '--permission-profile': ['containers', 'have no network at all with the profile none'],
  '--image-verification': [
    'container-flags',
    '--image-verification enabled does not run what nobody signed, disabled does',
  ],
  '--ca-cert': ['container-flags', '--runtime-image, --runtime-add-package and --ca-cert end up in the image'],
  '--ignore-globally': [
    'container-flags',
    '--ignore-globally false shows what the global ignore file hides, and --print-resolved-overlays says what is hidden',
  ],
  '--print-resolved-overlays': [
    'container-flags',
    '--ignore-globally false shows what the global ignore file hides, and --print-resolved-overlays says what is hidden',
  ],
  '--runtime-image': ['container-flags', '--runtime-image, --runtime-add-package and --ca-cert end up in the image'],
  '--runtime-add-package': [
    'container-flags',
    '--runtime-image, --runtime-add-package and --ca-cert end up in the image',
  ],
};
