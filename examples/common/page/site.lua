-- Pandoc filter that turns links in a Markdown page of the repository into links of the site: README.md
-- becomes the folder's index.html, any other X.md X.html, a folder its index.html, and .github github.
-- Must run in the page's folder.

local function is_folder(path)
  local file = io.open(path .. "/.", "r")
  if file then file:close() end
  return file ~= nil
end

function Link(link)
  local path, anchor = link.target:match("^([^#]*)(#?.*)$")
  if path == "" or path:match("^%a+:") then return nil end
  if path:match("README%.md$") then
    path = path:gsub("README%.md$", "index.html")
  elseif path:match("%.md$") then
    path = path:gsub("%.md$", ".html")
  elseif is_folder(path) then
    path = path:gsub("/$", "") .. "/index.html"
  end
  link.target = path:gsub("%.github/", "github/") .. anchor
  return link
end
