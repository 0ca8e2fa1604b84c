// Calls every tool of an MCP server with the SDK of JavaScript: `foreign.mjs stdio COMMAND ...` or `http URL TOKEN`.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [way, target, ...rest] = process.argv.slice(2);
const transport =
  way === "stdio"
    ? new StdioClientTransport({ command: target, args: rest, env: { ...process.env } })
    : new StreamableHTTPClientTransport(new URL(target), {
        requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } },
      });
const quote = "aspirin lowers the risk of many things";
const known = {
  query: "aspirin",
  pmid: "1",
  question: "Does aspirin help?",
  action: "finish",
  text: "only adults",
  quotes: [{ quote, text: `we saw that ${quote}` }],
  run: "no-such-run",
  library: "/etc",
  wait_seconds: 0,
};
const client = new Client({ name: "foreign", version: "1" });
await client.connect(transport);
const answers = {};
for (const tool of (await client.listTools()).tools) {
  const names = Object.keys(tool.inputSchema.properties).filter((name) => name in known);
  const given = Object.fromEntries(names.map((name) => [name, known[name]]));
  if (tool.name === "ask_report") given.action = "tell";
  const result = await client.callTool({ name: tool.name, arguments: given });
  answers[tool.name] = { error: !!result.isError, text: result.content.map((part) => part.text ?? "").join(" ") };
}
console.log(JSON.stringify(answers));
await client.close();
